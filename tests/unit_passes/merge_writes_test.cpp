#include "compiler/passes/merge_writes.h"
#include "catch.h"
#include "printed.h"

using namespace halo;
using namespace halo::ir;
using passes::merge_writes;

namespace {

// A program of a state u and an input a, whose statements each have a condition.
struct Maker : ProgramMaker {
    explicit Maker(BoundaryKind kind = BoundaryKind::periodic) : ProgramMaker(2) {
        u = field("u", Role::state, kind);
        a = field("a", Role::input, BoundaryKind::periodic);
    }
    Term where_a(BinaryOp op, Rational value) { return binary(op, read(a), number(std::move(value))); }
    // Cells whose sum of indices leaves `remainder`.
    Term colour(int remainder, int colours = 2) {
        const Term sum = coordinate(CoordinateKind::index, 0, Scalar::i32) +
                         coordinate(CoordinateKind::index, 1, Scalar::i32);
        const Term left = binary(BinaryOp::floor_mod, sum, number(colours, Scalar::i32));
        return binary(BinaryOp::equal, left, number(remainder, Scalar::i32));
    }
    Term mean(int time) {
        return (read(u, {-1, 0, 0}, time) + read(u, {1, 0, 0}, time) + read(u, {0, -1, 0}, time) +
                read(u, {0, 1, 0}, time)) *
               number(Rational(1, 4));
    }
    Assign& where(Term condition, Term value) {
        assign(u, value);
        auto& made = std::get<Assign>(program.statements.back());
        made.condition = condition.id;
        return made;
    }
    FieldId u, a;
};

Program merged(Program program) {
    merge_writes(program);
    CHECK(verify(program).empty());
    return program;
}

// What the interpreter makes of the state u.
std::vector<double> states(const Program& program, int steps = 3) {
    Interpreter interpreter(program, {7, 5, 1}, Arithmetic::declared);
    std::uint64_t seed = 42;
    for (const char* name : {"u", "a"})
        for (double& cell : interpreter.field(name)) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            cell = static_cast<float>(0.5 + static_cast<double>(seed >> 33) / 4294967296.0);
        }
    for (int step = 0; step < steps; ++step)
        interpreter.step();
    const auto cells = interpreter.field("u");
    return {cells.begin(), cells.end()};
}

void check_stays(const Program& program) {
    const std::string before = print(program);
    CHECK(print(merged(program)) == before);
}

}  // namespace

TEST_CASE("statements with conditions become one of choices") {
    Maker make;
    make.where(make.where_a(BinaryOp::less, 1), make.mean(0));
    make.where(make.where_a(BinaryOp::greater, 1), make.number(3));
    const Program raw = make.finish(), program = merged(raw);
    CHECK(statements_of(program) ==
          "u[t+1] = if a > 1 then 3 else if a < 1 then (u[x-1] + u[x+1] + u[y-1] + "
          "u[y+1]) * (1/4) else u\n");
    CHECK(states(program) == states(raw));
}

TEST_CASE("a later statement sees what the earlier left at the cell") {
    Maker make;
    make.assign(make.u, make.mean(0));
    make.where(make.binary(BinaryOp::less, make.read(make.u, {}, 1), make.read(make.a)),
               make.read(make.u, {}, 1) * make.number(2));
    make.assign(make.u, make.read(make.u, {}, 1) - make.read(make.a));
    const Program raw = make.finish(), program = merged(raw);
    CHECK(program.statements.size() == 1);
    CHECK(program.fields.size() == 2);
    CHECK(states(program) == states(raw));
}

TEST_CASE("what the earlier left beside the cell is a let with the state's boundary") {
    for (BoundaryKind kind : {BoundaryKind::periodic, BoundaryKind::mirror, BoundaryKind::clamp}) {
        Maker make(kind);
        make.where(make.colour(0), make.mean(0));
        make.where(make.colour(1), make.mean(1));
        make.reduce("change", ReduceOp::max, make.read(make.u, {}, 1) - make.read(make.u));
        const Program raw = make.finish(), program = merged(raw);
        REQUIRE(program.fields.size() == 3);
        CHECK(program.fields[2].name == "u_before");
        CHECK(program.fields[2].role == Role::intermediate);
        CHECK(program.fields[2].boundary[0][1].kind == kind);
        CHECK(program.statements.size() == 3);
        CHECK(form_stages(program).size() == 2);
        CHECK(states(program) == states(raw));
    }
}

TEST_CASE("the let's name is one that no field has") {
    Maker make;
    make.field("u_before", Role::input);
    make.where(make.colour(0), make.mean(0));
    make.where(make.colour(1), make.mean(1));
    const Program program = merged(make.finish());
    REQUIRE(program.fields.size() == 4);
    CHECK(program.fields[3].name == "u_before_2");
}

TEST_CASE("statements stay apart where others between them see the first") {
    Maker make;
    const FieldId seen = make.field("seen", Role::output);
    make.where(make.where_a(BinaryOp::less, 1), make.mean(0));
    SECTION("as a field") {
        make.assign(seen, make.read(make.u, {}, 1));
    }
    SECTION("as a reduction") {
        make.assign(seen, make.read(make.a));
        make.reduce("most", ReduceOp::max, make.read(make.u, {}, 1));
    }
    make.where(make.where_a(BinaryOp::greater, 1), make.number(3));
    check_stays(make.finish());
}

TEST_CASE("statements stay apart where what the first reads changes between them") {
    Maker make;
    const FieldId v = make.field("v", Role::state);
    make.assign(v, make.read(make.a));
    make.where(make.where_a(BinaryOp::less, 1), make.read(v, {}, 1));
    make.assign(v, make.read(v, {}, 1) * make.number(2));
    make.where(make.where_a(BinaryOp::greater, 1), make.number(3));
    const Program raw = make.finish(), program = merged(raw);
    CHECK(program.statements.size() == 4);
    CHECK(states(program) == states(raw));
}

TEST_CASE("statements stay for a part of the grid, with fewer bits stored, and of three colours") {
    Maker make;
    SECTION("a part of the grid") {
        make.where(make.where_a(BinaryOp::less, 1), make.mean(0));
        make.where(make.where_a(BinaryOp::greater, 1), make.number(3)).region.ranges[0].end = {0, 2};
    }
    SECTION("fewer bits stored") {
        make.program.fields[make.u.index].storage = Storage::f16;
        make.where(make.where_a(BinaryOp::less, 1), make.mean(0));
        make.where(make.where_a(BinaryOp::greater, 1), make.number(3));
    }
    SECTION("three colours") {
        for (int colour = 0; colour < 3; ++colour)
            make.where(make.colour(colour, 3), make.mean(colour == 0 ? 0 : 1));
    }
    SECTION("a face that changes with the step") {
        Face& face = make.program.fields[make.u.index].boundary[0][0];
        face.kind = BoundaryKind::fixed;
        face.value = make.coordinate(CoordinateKind::step, 0, Scalar::f64).id;
        make.set_face(make.u, 0, 1, BoundaryKind::fixed, 1);
        make.where(make.colour(0), make.mean(0));
        make.where(make.colour(1), make.mean(1));
    }
    check_stays(make.finish());
}

TEST_CASE("what is changed in place before stays so, and so does all after it") {
    Maker make;
    make.assign(make.u, make.mean(0));
    make.where(make.colour(1), make.mean(1));
    make.where(make.where_a(BinaryOp::greater, 1), make.number(3));
    check_stays(make.finish());
}

TEST_CASE("a long run of statements becomes a few of many choices") {
    Maker make;
    for (int number = 0; number < 40; ++number)
        make.where(make.where_a(BinaryOp::greater, Rational(number, 40) + 1), make.number(number));
    const Program raw = make.finish(), program = merged(raw);
    CHECK(program.statements.size() == 24);
    CHECK(states(program) == states(raw));
}

namespace {

// An output v whose statements are for a part of the grid.
struct OutputMaker : Maker {
    OutputMaker() {
        v = field("v", Role::output, BoundaryKind::free);
        w = field("w", Role::output, BoundaryKind::free);
        assign(u, read(a));
        within(w, read(a));
        within(v, read(w));
    }
    Assign& within(FieldId target, Term value, int from = 1) {
        assign(target, value);
        auto& made = std::get<Assign>(program.statements.back());
        made.region.ranges[0].begin = {false, from};
        made.region.ranges[0].end = {true, -1};
        return made;
    }
    FieldId v, w;
};

}  // namespace

TEST_CASE("statements of an output for the same cells become one") {
    OutputMaker make;
    make.within(make.v, make.read(make.v) * make.read(make.a));
    make.within(make.v, make.read(make.v) + make.read(make.v));
    CHECK(statements_of(merged(make.finish())) ==
          "u[t+1] = a\nw = a    on x [1, n-1)\n%1 = w * a\nv = %1 + %1    on x [1, n-1)\n");
}

TEST_CASE("what nobody sees of an output is not computed") {
    OutputMaker make;
    make.within(make.v, make.read(make.a));
    CHECK(statements_of(merged(make.finish())) ==
          "u[t+1] = a\nw = a    on x [1, n-1)\nv = a    on x [1, n-1)\n");
}

TEST_CASE("statements of an output stay that others look at, or that are for other cells") {
    OutputMaker make;
    const Term more = make.read(make.v) + make.number(1);
    SECTION("for other cells") {
        make.within(make.v, more, 2);
    }
    SECTION("seen in between") {
        make.within(make.u, make.read(make.v));
        make.within(make.v, more);
    }
    SECTION("what it reads has changed in between") {
        make.within(make.w, make.number(2), 2);
        make.within(make.v, more);
    }
    SECTION("a condition of its own") {
        make.within(make.v, make.number(1)).condition = make.where_a(BinaryOp::less, 1).id;
    }
    check_stays(make.finish());
}
