// Statements for some of the cells, and several for one level.
#include "compiler/ir/in_place.h"
#include "catch.h"
#include "compiler/ir/interpreter.h"
#include "program_maker.h"

using namespace halo;
using namespace halo::ir;

namespace {

using Cells = std::vector<double>;

Region along_x(Region::Bound begin, Region::Bound end) {
    Region region;
    region.ranges[0] = {begin, end};
    return region;
}

// idx(x) - m * floor(idx(x) / m) == r
ExprId colour(ProgramMaker& make, int modulus, int remainder) {
    const Term index = make.coordinate(CoordinateKind::index, 0);
    const Term floor = make.call(Function::floor, {index / make.number(modulus)});
    return make.binary(BinaryOp::equal, index - make.number(modulus) * floor, make.number(remainder)).id;
}

Assign& last(ProgramMaker& make) {
    return std::get<Assign>(make.program.statements.back());
}

}  // namespace

TEST_CASE("cells that a state's first statement is not for keep the old value; later ones change their own") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::state, BoundaryKind::clamp);
    make.assign(u, make.number(10) * make.read(u));
    last(make).region = along_x({false, 1}, {true, -1});
    make.assign(u, make.read(u, {}, 1) + make.number(1));
    last(make).region = along_x({true, -2}, {true, 0});
    Interpreter interpreter(make.finish(), {4, 1, 1}, Arithmetic::declared);
    interpreter.field("u") = {1, 2, 3, 4};
    interpreter.step();
    CHECK(interpreter.field("u") == Cells{1, 20, 31, 5});
}

TEST_CASE("red and black cells take turns, and see each other's new values") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::state, BoundaryKind::fixed);  // 1 past the faces
    const auto sum = [&](int time) { return make.read(u, {-1, 0, 0}, time) + make.read(u, {1, 0, 0}, time); };
    make.assign(u, sum(0));
    last(make).condition = colour(make, 2, 0);
    make.assign(u, sum(1));
    last(make).condition = colour(make, 2, 1);
    const Program program = make.finish();
    CHECK(in_place_statements(program) == std::vector<bool>{false, true});
    CHECK(form_stages(program).size() == 2);
    Interpreter interpreter(program, {4, 1, 1}, Arithmetic::declared);
    interpreter.field("u") = {1, 2, 3, 4};
    interpreter.step();
    CHECK(interpreter.field("u") == Cells{3, 9, 6, 7});
}

TEST_CASE("what is read apart from what is written is told from what is not") {
    ProgramMaker make(2);
    const FieldId u = make.field("u", Role::state, BoundaryKind::clamp);
    Assign assign;
    assign.target = u;
    assign.time = 1;
    const auto reads = [&](Offset offset) {
        assign.value = make.read(u, offset, 1).id;
        return read_of_written(make.program, assign).has_value();
    };
    CHECK_FALSE(reads({0, 0, 0}));
    CHECK(reads({1, 0, 0}));
    assign.region = along_x({false, 2}, {false, 4});
    CHECK(reads({1, 0, 0}));
    CHECK_FALSE(reads({2, 0, 0}));
    CHECK_FALSE(reads({-3, 1, 0}));
    CHECK(reads({0, 5, 0}));
    assign.region = along_x({false, 2}, {true, -2});  // as wide as the grid makes it
    CHECK(reads({7, 0, 0}));
    assign.region = {};
    assign.condition = colour(make, 3, 1);
    CHECK_FALSE(reads({1, 0, 0}));
    CHECK_FALSE(reads({-2, 4, 0}));
    CHECK(reads({3, 0, 0}));
    CHECK(reads({0, 1, 0}));
    // The condition itself is looked at everywhere.
    const Term at_neighbour = make.binary(BinaryOp::greater, make.read(u, {1, 0, 0}, 1), make.number(0));
    assign.condition =
        make.binary(BinaryOp::logical_and, {&make.builder(), colour(make, 3, 1)}, at_neighbour).id;
    CHECK(reads({0, 0, 0}));
}

TEST_CASE("a let that others read, too, is computed before a statement that works in place") {
    ProgramMaker make(1);
    const FieldId a = make.field("a", Role::input, BoundaryKind::clamp);
    const FieldId m = make.field("m", Role::intermediate, BoundaryKind::clamp);
    const FieldId u = make.field("u", Role::state, BoundaryKind::clamp);
    const FieldId v = make.field("v", Role::output, BoundaryKind::clamp);
    make.assign(u, make.read(u));
    make.assign(m, make.read(a) + make.number(1));
    make.assign(u, make.read(m));
    last(make).region = along_x({false, 0}, {false, 1});
    make.assign(v, make.read(m, {1, 0, 0}));
    const Program program = make.finish();
    const std::vector<Stage> stages = form_stages(program);
    CHECK(stored_fields(program, stages)[m.index]);
    for (const Stage& stage : stages) {
        const bool has_change = std::count(stage.statements.begin(), stage.statements.end(), 2) != 0;
        CHECK((!has_change || stage.statements.size() == 1));
    }
    Interpreter interpreter(program, {3, 1, 1}, Arithmetic::declared);
    interpreter.field("a") = {1, 2, 3};
    interpreter.field("u") = {7, 8, 9};
    interpreter.step();
    CHECK(interpreter.field("u") == Cells{2, 8, 9});
    CHECK(interpreter.field("v") == Cells{3, 4, 4});
}

TEST_CASE("reductions count the cells of their region for which their condition holds") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::input);
    make.reduce("some", ReduceOp::sum, make.read(u));
    Reduce& reduce = std::get<Reduce>(make.program.statements.back());
    reduce.region = along_x({false, 1}, {true, 0});
    reduce.condition = colour(make, 2, 1);
    Interpreter interpreter(make.finish(), {5, 1, 1}, Arithmetic::declared);
    interpreter.field("u") = {1, 2, 4, 8, 16};
    interpreter.step();
    CHECK(interpreter.reduction("some") == 10);
}
