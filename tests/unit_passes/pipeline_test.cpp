#include "compiler/passes/pipeline.h"
#include "catch.h"
#include "compiler/support/error.h"
#include "printed.h"

using namespace halo;
using namespace halo::ir;
using passes::FloatingPoint;
using passes::optimize;

TEST_CASE("heat in 3D is two fmas") {
    Program program = heat_program(3);
    optimize(program);
    CHECK(statements_of(program) ==
          "u[t+1] = fma(f32(lambda * dt), fma(-6, u, u[x-1] + u[x+1] + u[y-1] + u[y+1] + u[z-1] + u[z+1]), "
          "u)\n");
}

TEST_CASE("each permission is its own") {
    Program grouped = heat_program(1), fused = heat_program(1), strict = heat_program(1);
    optimize(grouped, {.reassociate = true, .contract = false});
    optimize(fused, {.reassociate = false, .contract = true});
    optimize(strict, FloatingPoint::strict());
    CHECK(statements_of(grouped) == "u[t+1] = u + f32(lambda * dt) * (u[x-1] + u[x+1] - 2 * u)\n");
    CHECK(statements_of(fused) == "u[t+1] = fma(f32(lambda * dt), fma(-2, u, u[x-1]) + u[x+1], u)\n");
    CHECK(statements_of(strict) == "u[t+1] = u + f32(lambda * dt) * (u[x-1] - 2 * u + u[x+1])\n");
}

TEST_CASE("strict keeps every bit; the rest stays within rounding") {
    for (BoundaryKind kind :
         {BoundaryKind::fixed, BoundaryKind::periodic, BoundaryKind::mirror, BoundaryKind::free}) {
        const Program raw = heat_program(3, kind);
        Program strict = raw, relaxed = raw;
        optimize(strict, FloatingPoint::strict());
        optimize(relaxed);
        CHECK(run(raw, Arithmetic::declared, 5) == run(strict, Arithmetic::declared, 5));
        CHECK(difference(run(raw, Arithmetic::declared, 5), run(relaxed, Arithmetic::declared, 5)) <= 1e-6);
        CHECK(difference(run(raw, Arithmetic::f64, 5), run(relaxed, Arithmetic::f64, 5)) <= 1e-14);
    }
}

TEST_CASE("what a read means does not change when it is folded away") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::state, BoundaryKind::free);
    make.assign(u, make.read(u) + (make.read(u, {2, 0, 0}) - make.read(u, {2, 0, 0})) + make.number(1));
    const Program raw = make.finish();
    Program program = raw;
    optimize(program);
    CHECK(statements_of(program) == "u[t+1] = u + 1    margins x 0 2\n");
    CHECK(run(raw, Arithmetic::declared) == run(program, Arithmetic::declared));
}

TEST_CASE("arithmetic on coordinates alone is done as it is written") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::input);
    const FieldId v = make.field("v", Role::output);
    const Term index = make.coordinate(CoordinateKind::index, 0);
    const Term scaled = index / make.number(49) + make.number(2) * index;
    make.assign(v, make.select(make.binary(BinaryOp::equal, scaled, make.number(99)), make.read(u),
                               scaled * make.read(u)));
    Program program = make.finish();
    optimize(program);
    CHECK(statements_of(program) == "%1 = idx(x) / 49 + 2 * idx(x)\nv = if %1 == 99 then u else %1 * u\n");
}

TEST_CASE("the same program gives the same text") {
    Program first = heat_program(3), second = heat_program(3);
    optimize(first);
    optimize(second);
    CHECK(print(first) == print(second));
}

#ifdef HALO_VERIFY
TEST_CASE("a broken program is refused with the pass that left it") {
    Program program = heat_program(1);
    std::get<Assign>(program.statements[0]).margins[0][0] = -1;
    CHECK_THROWS_AS(optimize(program), InternalError);
}
#endif
