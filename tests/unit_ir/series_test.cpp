// Series in the interpreter and the verifier.
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "catch.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/interpreter.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "contains.h"
#include "program_maker.h"
#include "runtime/core/series.h"

using namespace halo::ir;

namespace {

// series wind; u = wind[at]
Program reading(ProgramMaker& make, const Term& at) {
    make.program.tables.push_back({"wind", {{"value", Scalar::f64, {}}}, {}, true});
    const FieldId u = make.field("u", Role::output, BoundaryKind::periodic, Scalar::f64);
    make.assign(u, Term{&make.builder(), make.builder().add({Scalar::f64, SeriesValue{{0}, at.id}, {}})});
    return make.finish();
}

}  // namespace

TEST_CASE("a series is linear between whole numbers and holds its ends") {
    const std::vector<double> values{1, 3, -1};
    const auto at = [&](double number) { return halo::rt::series_value(values, number); };
    CHECK(at(0) == 1);
    CHECK(at(1) == 3);
    CHECK(at(0.25) == 1.5);
    CHECK(at(1.5) == 1);
    CHECK(at(2) == -1);
    CHECK(at(2.5) == -1);
    CHECK(at(-7) == 1);
    const double infinite = std::numeric_limits<double>::infinity();
    CHECK(at(infinite) == -1);
    CHECK(at(-infinite) == 1);
    CHECK(std::isnan(at(std::nan(""))));
    CHECK(halo::rt::series_value(std::vector<double>{5}, 0.5) == 5);
    CHECK(std::isnan(halo::rt::series_value({}, 0)));
}

TEST_CASE("what is infinite in a series is read by itself alone") {
    const std::vector<double> values{1, std::numeric_limits<double>::infinity(), 2};
    CHECK(halo::rt::series_value(values, 0) == 1);
    CHECK(halo::rt::series_value(values, 2) == 2);
}

TEST_CASE("the interpreter reads a series at each step") {
    ProgramMaker make(1);
    const Term step = make.coordinate(CoordinateKind::step, 0, Scalar::f64);
    const Program program = reading(make, step);
    CHECK(verify(program).empty());
    CHECK(print(program).find("wind[step]") != std::string::npos);
    CHECK(changes_with_step(program, std::get<Assign>(program.statements[0]).value));
    Interpreter interpreter(program, {2, 1, 1}, Arithmetic::declared);
    CHECK_THROWS_AS(interpreter.step(), std::invalid_argument);  // it was given no values
    interpreter.set_table("wind", {});
    CHECK_THROWS_AS(interpreter.step(), std::invalid_argument);
    interpreter.set_table("wind", {4, 7});
    for (const double expected : {4, 7, 7}) {
        interpreter.step();
        CHECK(interpreter.field("u") == std::vector<double>{expected, expected});
    }
}

TEST_CASE("a series is read at what is the same in all cells, and is one column of f64") {
    ProgramMaker make(1);
    const Term place = make.coordinate(CoordinateKind::position, 0, Scalar::f64);
    std::string refusal;
    try {
        reading(make, place);
    } catch (const std::exception& error) {
        refusal = error.what();
    }
    CHECK(contains(refusal, "varies from cell to cell"));
    ProgramMaker other(1);
    Program program = reading(other, other.coordinate(CoordinateKind::step, 0, Scalar::f64));
    program.tables[0].columns[0].type = Scalar::f32;
    CHECK_FALSE(verify(program).empty());
    program.tables[0].columns[0].type = Scalar::f64;
    program.tables[0].is_series = false;
    CHECK_FALSE(verify(program).empty());
}
