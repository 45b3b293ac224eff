// Formulas past a face, in the interpreter: the definition that every engine is held to.
#include "catch.h"
#include "compiler/ir/interpreter.h"
#include "program_maker.h"
#include "runtime/core/error.h"

using namespace halo;
using namespace halo::ir;

namespace {

using Cells = std::vector<double>;

// u with ghosts at one face: ghost(k) is an expression at the ghost cell k past it.
template <class Ghost>
void set_ghosts(ProgramMaker& make, FieldId field, int axis, int side, int count, Ghost&& ghost) {
    std::vector<ExprId> ghosts;
    for (int k = 1; k <= count; ++k)
        ghosts.push_back(ghost(k).id);
    Face& face = make.program.fields[field.index].boundary[axis][side];
    face.kind = BoundaryKind::formula;
    face.ghosts = std::move(ghosts);
}

Offset along(int axis, int distance) {
    Offset offset{};
    offset[axis] = distance;
    return offset;
}

}  // namespace

TEST_CASE("a formula is evaluated at the ghost cell, and reads inwards") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::input, BoundaryKind::clamp);
    const FieldId out = make.field("out", Role::output);
    set_ghosts(make, u, 0, 0, 2, [&](int k) {
        return make.read(u, along(0, 2 * k)) + make.coordinate(CoordinateKind::index, 0);
    });
    make.assign(out, make.read(u, along(0, -2)));
    Interpreter interpreter(make.finish(), {4, 1, 1}, Arithmetic::declared);
    interpreter.field("u") = {10, 20, 30, 40};
    interpreter.step();
    CHECK(interpreter.field("out") == Cells{30 - 2, 20 - 1, 10, 20});
}

TEST_CASE("in a corner the first axis past its face decides, and reads what the next one gives") {
    ProgramMaker make(2);
    const FieldId u = make.field("u", Role::input, BoundaryKind::clamp);
    const FieldId out = make.field("out", Role::output);
    set_ghosts(make, u, 0, 0, 1, [&](int) { return make.number(2) * make.read(u, {1, 0, 0}); });
    set_ghosts(make, u, 1, 0, 1, [&](int) { return make.read(u, {0, 1, 0}) + make.number(1); });
    make.assign(out, make.read(u, {-1, -1, 0}));
    Interpreter interpreter(make.finish(), {2, 2, 1}, Arithmetic::declared);
    interpreter.field("u") = {1, 2, 3, 4};
    interpreter.step();
    // The corner: x first, 2 * (what lies below cell 0) = 2 * (1 + 1).
    CHECK(interpreter.field("out") == Cells{4, 2, 2, 1});
}

TEST_CASE("periodic axes wrap before a formula is looked for") {
    ProgramMaker make(2);
    const FieldId u = make.field("u", Role::input, BoundaryKind::periodic);
    const FieldId out = make.field("out", Role::output);
    set_ghosts(make, u, 0, 0, 1, [&](int) { return make.coordinate(CoordinateKind::index, 1); });
    make.program.fields[u.index].boundary[0][1].kind = BoundaryKind::clamp;
    make.assign(out, make.read(u, {-1, -1, 0}));
    Interpreter interpreter(make.finish(), {2, 3, 1}, Arithmetic::declared);
    interpreter.field("u") = {1, 2, 3, 4, 5, 6};
    interpreter.step();
    CHECK(interpreter.field("out") == Cells{2, 5, 0, 1, 1, 3});
}

TEST_CASE("the step in a formula is that of the level") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::state, BoundaryKind::clamp);
    const FieldId out = make.field("out", Role::output);
    const auto step = [&] { return make.convert(make.coordinate(CoordinateKind::step, 0, Scalar::f64)); };
    set_ghosts(make, u, 0, 0, 1, [&](int) { return step(); });
    make.assign(u, make.read(u, {-1, 0, 0}));
    make.assign(out, make.read(u, {-1, 0, 0}, 1));
    Interpreter interpreter(make.finish(), {3, 1, 1}, Arithmetic::declared);
    interpreter.field("u") = {7, 8, 9};
    interpreter.step();
    CHECK(interpreter.field("u") == Cells{0, 7, 8});
    CHECK(interpreter.field("out") == Cells{1, 0, 7});
    interpreter.step();
    CHECK(interpreter.field("u") == Cells{1, 0, 7});
    CHECK(interpreter.field("out") == Cells{2, 1, 0});
}

TEST_CASE("a grid smaller than a formula reads is refused") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::input, BoundaryKind::mirror);
    const FieldId out = make.field("out", Role::output);
    set_ghosts(make, u, 0, 0, 2, [&](int k) { return -make.read(u, along(0, 2 * k)); });
    make.assign(out, make.read(u, along(0, -2)) + make.read(u, along(0, 1)));
    const Program program = make.finish();
    CHECK(program.fields[u.index].boundary[0][0].reach == 3);
    CHECK(program.fields[u.index].boundary[0][1].reach ==
          2);  // a reflection must not leave through a formula
    CHECK_NOTHROW(Interpreter(program, {3, 1, 1}, Arithmetic::declared));
    CHECK_THROWS_AS(Interpreter(program, {2, 1, 1}, Arithmetic::declared), rt::Error);
}

TEST_CASE("ghosts read their own field, along their axis, inside") {
    ProgramMaker make(2);
    const FieldId u = make.field("u", Role::input, BoundaryKind::clamp);
    const FieldId v = make.field("v", Role::input, BoundaryKind::clamp);
    const FieldId out = make.field("out", Role::output);
    make.assign(out, make.read(u, {-1, 0, 0}) + make.read(v));
    const auto broken_with = [&](Term ghost) {
        ProgramMaker* const maker = &make;
        set_ghosts(*maker, u, 0, 0, 1, [&](int) { return ghost; });
        infer_halos(maker->program);
        infer_reaches(maker->program);
        infer_margins(maker->program);
        return !verify(maker->program).empty();
    };
    CHECK_FALSE(broken_with(make.read(u, {1, 0, 0})));
    CHECK(broken_with(make.read(v, {1, 0, 0})));
    CHECK(broken_with(make.read(u, {1, 1, 0})));
    CHECK(broken_with(make.read(u, {0, 0, 0})));
    CHECK(broken_with(make.number(1, Scalar::f64)));
}

TEST_CASE("a formula reads 64-bit integers as their level keeps them") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::output, BoundaryKind::clamp, Scalar::i64);
    const FieldId out = make.field("out", Role::output, BoundaryKind::clamp, Scalar::i64);
    set_ghosts(make, u, 0, 1, 2, [&](int k) { return make.read(u, along(0, 1 - 2 * k)); });
    const ExprId large = make.builder().constant((std::int64_t{1} << 62) + 1, Scalar::i64);
    make.assign(u, {&make.builder(), large});
    make.assign(out, make.read(u, along(0, 2)));
    Interpreter interpreter(make.finish(), {3, 1, 1}, Arithmetic::declared);
    interpreter.step();
    CHECK(interpreter.field("out") == interpreter.field("u"));
}
