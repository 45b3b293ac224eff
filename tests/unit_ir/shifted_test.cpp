#include "compiler/ir/shifted.h"
#include "catch.h"
#include "program_maker.h"

using namespace halo;
using namespace halo::ir;

namespace {

struct Shapes {
    explicit Shapes(ProgramMaker& make) : shapes(make.program) {}
    bool alike(Term a, Term b) { return shapes.of(a.id).shape == shapes.of(b.id).shape; }
    // From a to b.
    Offset way(Term a, Term b) {
        const Offset from = shapes.of(a.id).offset;
        Offset to = shapes.of(b.id).offset;
        for (int axis = 0; axis < kMaxRank; ++axis)
            to[axis] -= from[axis];
        return to;
    }
    ShiftedShapes shapes;
};

}  // namespace

TEST_CASE("expressions at shifted places have one shape") {
    ProgramMaker make(3);
    const FieldId u = make.field("u", Role::input), v = make.field("v", Role::input);
    const Term c = make.convert(make.param("c", 2)), two = make.number(2);
    const auto pair = [&](int y, int z) { return make.read(u, {-1, y, z}) + make.read(u, {1, y, z}); };
    const auto sum = [&](int y, int z) { return c * pair(y, z) + two * make.read(v, {0, y + 1, z}); };
    Shapes shapes(make);
    CHECK(shapes.alike(pair(0, 0), pair(1, -2)));
    CHECK(shapes.way(pair(0, 0), pair(1, -2)) == Offset{0, 1, -2});
    CHECK(shapes.alike(sum(0, 0), sum(-1, 1)));
    CHECK(shapes.way(sum(0, 0), sum(-1, 1)) == Offset{0, -1, 1});
}

TEST_CASE("another order, another distance, or another factor is another shape") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::state), v = make.field("v", Role::input);
    const auto read = [&](int x) { return make.read(u, {x, 0, 0}); };
    const Term c = make.convert(make.param("c", 2)), d = make.convert(make.param("d", 2));
    Shapes shapes(make);
    CHECK_FALSE(shapes.alike(read(0) + read(1), read(1) + read(0)));
    CHECK_FALSE(shapes.alike(read(0) + read(1), read(0) + read(2)));
    CHECK_FALSE(shapes.alike(read(0) + read(1), read(0) - read(1)));
    CHECK_FALSE(shapes.alike(c * read(0), d * read(0)));
    CHECK_FALSE(shapes.alike(read(0), make.read(v)));
    CHECK_FALSE(shapes.alike(read(0), make.read(u, {}, -1)));
    CHECK_FALSE(shapes.alike(make.call(Function::exp, {read(0)}), make.call(Function::sin, {read(0)})));
    CHECK_FALSE(shapes.alike(read(0), -read(0)));
}

TEST_CASE("what depends on the cell's place is no shift of itself; what does not is the same everywhere") {
    ProgramMaker make(2);
    const FieldId u = make.field("u", Role::input);
    const auto read = [&](int x) { return make.read(u, {x, 0, 0}); };
    const Term index = make.coordinate(CoordinateKind::index, 0);
    const Term length = make.coordinate(CoordinateKind::extent, 0);
    Shapes shapes(make);
    CHECK_FALSE(shapes.alike(index * read(0), index * read(1)));
    CHECK_FALSE(shapes.alike(read(0) * index, read(1) * index));
    CHECK(shapes.alike(length * read(0), length * read(1)));
    CHECK(shapes.shapes.of(length.id).is_everywhere);
    CHECK_FALSE(shapes.shapes.of(index.id).is_everywhere);
}
