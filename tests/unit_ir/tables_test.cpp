// Tables in the interpreter and the verifier.
#include <cmath>
#include <stdexcept>

#include "catch.h"
#include "compiler/ir/interpreter.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "program_maker.h"

using namespace halo::ir;
using Cells = std::vector<double>;

namespace {

// table atoms { x, q: f32; twice = 2*q }
TableId add_atoms(ProgramMaker& make, Scalar type = Scalar::f32) {
    make.program.tables.push_back({"atoms", {{"x", type, {}}, {"q", type, {}}}, {}});
    const ExprId q = make.builder().add({type, TableColumn{{0}, 1}, {}});
    const ExprId two = make.builder().constant(halo::Rational(2), type);
    make.program.tables[0].columns.push_back({"twice", type, make.builder().binary(BinaryOp::mul, two, q)});
    return {0};
}

Term column(ProgramMaker& make, int index, Scalar type = Scalar::f32) {
    return {&make.builder(), make.builder().add({type, TableColumn{{0}, index}, {}})};
}

Term sum(ProgramMaker& make, const Term& term, std::optional<ExprId> factor = {}) {
    const Scalar type = make.program[term.id].type;
    return {&make.builder(), make.builder().add({type, TableSum{{0}, term.id, factor}, {}})};
}

}  // namespace

TEST_CASE("a sum takes the rows in order, from 0, at every cell") {
    ProgramMaker make(1);
    add_atoms(make);
    const FieldId u = make.field("u", Role::output);
    const Term x = make.coordinate(CoordinateKind::index, 0);
    make.assign(u, sum(make, (x - column(make, 0)) * column(make, 2)) + sum(make, make.number(1)));
    Interpreter interpreter(make.finish(), {3, 1, 1}, Arithmetic::declared);
    CHECK_THROWS_AS(interpreter.step(), std::invalid_argument);  // no rows were given
    interpreter.set_table("atoms", {1, 10, 2, 100});
    interpreter.step();
    for (int i = 0; i < 3; ++i)
        CHECK(interpreter.field("u")[i] == (i - 1) * 20 + (i - 2) * 200 + 2);
    interpreter.set_table("atoms", {});
    interpreter.step();
    CHECK(interpreter.field("u") == Cells{0, 0, 0});
    CHECK_THROWS_AS(interpreter.set_table("atoms", {1, 2, 3}), std::invalid_argument);
    CHECK_THROWS_AS(interpreter.set_table("beads", {}), std::invalid_argument);
}

TEST_CASE("a sum with a factor rounds each row's product with the sum") {
    ProgramMaker make(1);
    add_atoms(make);
    const FieldId u = make.field("u", Role::output);
    const Term x = make.coordinate(CoordinateKind::index, 0);
    make.assign(u, sum(make, x + column(make, 0), column(make, 1).id));
    const Program program = make.finish();
    CHECK(verify(program).empty());
    const double one = 1 + std::ldexp(1.0, -12);  // its square needs 25 bits, one more than f32 has
    Interpreter interpreter(program, {2, 1, 1}, Arithmetic::declared);
    interpreter.set_table("atoms", {one, one, -1 - std::ldexp(1.0, -11), 1});
    interpreter.step();
    CHECK(interpreter.field("u")[0] == 0);  // the first row is rounded to f32 once it is summed
    interpreter.set_table("atoms", {-1 - std::ldexp(1.0, -11), 1, one, one});
    interpreter.step();
    CHECK(interpreter.field("u")[0] == std::ldexp(1.0, -24));
}

TEST_CASE("a sum rounds in its own type after each row") {
    ProgramMaker make(1);
    add_atoms(make);
    const FieldId u = make.field("u", Role::output);
    make.assign(u, sum(make, column(make, 1)));
    Interpreter interpreter(make.finish(), {1, 1, 1}, Arithmetic::declared);
    interpreter.set_table("atoms", {0, 16777216, 0, 1, 0, 1, 0, 0.1});
    interpreter.step();
    float expected = 0;
    for (const float each : {16777216.0F, 1.0F, 1.0F, 0.1F})
        expected += each;
    CHECK(interpreter.field("u")[0] == expected);
}

TEST_CASE("a row that is not finite makes the sums so") {
    ProgramMaker make(1);
    add_atoms(make);
    const FieldId u = make.field("u", Role::output);
    make.assign(u,
                sum(make, column(make, 1) / (make.coordinate(CoordinateKind::index, 0) - column(make, 0))));
    Interpreter interpreter(make.finish(), {3, 1, 1}, Arithmetic::declared);
    interpreter.set_table("atoms", {1, 5, 1, -5});
    interpreter.step();
    CHECK(interpreter.field("u")[0] == 0);
    CHECK(std::isnan(interpreter.field("u")[1]));
}

TEST_CASE("what reads a row belongs under a sum over its table, and sums stand side by side") {
    ProgramMaker make(1);
    add_atoms(make);
    const FieldId u = make.field("u", Role::output);
    SECTION("outside of a sum") {
        make.assign(u, column(make, 0));
        CHECK_FALSE(verify(make.program).empty());
    }
    SECTION("within another") {
        make.assign(u, sum(make, sum(make, column(make, 0)) * column(make, 1)));
        CHECK_FALSE(verify(make.program).empty());
    }
    SECTION("in order") {
        make.assign(u, sum(make, column(make, 0)));
        CHECK(verify(make.program).empty());
    }
}

TEST_CASE("tables are printed") {
    ProgramMaker make(1);
    add_atoms(make);
    const FieldId u = make.field("u", Role::output);
    make.assign(u, sum(make, column(make, 0) * column(make, 2)));
    const std::string text = print(make.finish());
    CHECK(text.find("table atoms x: f32, q: f32, twice: f32 = 2 * row.q") != std::string::npos);
    CHECK(text.find("sum(row in atoms) (row.x * row.twice)") != std::string::npos);
}
