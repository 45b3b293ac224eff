#include "catch.h"
#include "compiler/ir/print.h"
#include "compiler/support/error.h"
#include "program_maker.h"

using namespace halo;
using namespace halo::ir;

TEST_CASE("equal expressions are one") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::input);
    const Term a = make.read(u, {1, 0, 0});
    CHECK(a.id == make.read(u, {1, 0, 0}).id);
    CHECK(a.id != make.read(u, {-1, 0, 0}).id);
    CHECK((a + make.read(u)).id == (a + make.read(u)).id);
    CHECK((a + make.read(u)).id != (make.read(u) + a).id);
    CHECK(make.number(Rational(1, 2)).id == make.number(Rational(2, 4)).id);
    CHECK(make.number(1, Scalar::f32).id != make.number(1, Scalar::f64).id);
}

TEST_CASE("a builder over a program knows what is there") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::input);
    const Term sum = make.read(u) + make.number(3);
    const std::size_t size = make.program.exprs.size();
    ExprBuilder second(make.program);
    CHECK(second.binary(BinaryOp::add, second.access(u, 0, {}), second.constant(3, Scalar::f32)) == sum.id);
    CHECK(make.program.exprs.size() == size);
}

TEST_CASE("the builder gives types and refuses mixed ones") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::input);
    const Term less = make.binary(BinaryOp::less, make.read(u), make.number(3));
    CHECK(make.program[less.id].type == Scalar::boolean);
    CHECK(make.convert(make.read(u), Scalar::f32).id == make.read(u).id);
    CHECK_THROWS_AS(make.read(u) + make.number(1, Scalar::f64), InternalError);
    CHECK_THROWS_AS(make.builder().add({Scalar::f32, Unary{UnaryOp::negate, {999}}, {}}), InternalError);
}

TEST_CASE("coordinates are f32 where every field is") {
    ProgramMaker make(1);
    make.field("u", Role::input);
    CHECK(compute_type(make.program) == Scalar::f32);
    make.field("v", Role::input, BoundaryKind::free, Scalar::f64);
    CHECK(compute_type(make.program) == Scalar::f64);
}

TEST_CASE("a program prints as formulas") {
    ProgramMaker make(2, "demo");
    const FieldId u = make.field("u", Role::state, BoundaryKind::free);
    const FieldId mu = make.field("mu", Role::intermediate, BoundaryKind::clamp);
    make.program.fields[u.index].history = 1;
    make.set_face(u, 1, 0, BoundaryKind::fixed, Rational(1, 3));
    const Term dt = make.param("dt", 0.25);
    const Term slope = make.read(u, {1, 0, 0}) - make.read(u);
    make.assign(mu, slope * slope - (make.number(Rational(4, 5)) - make.read(u)));
    const Term cold = make.binary(BinaryOp::less, make.read(mu, {0, -2, 0}), make.number(-1));
    make.assign(u,
                make.select(cold, -make.read(u), make.convert(dt) * (make.read(u, {}, -1) / make.read(u))));
    make.reduce("change", ReduceOp::max, make.call(Function::abs, {make.read(u, {}, 1) - make.read(u)}));
    CHECK(print(make.finish()) ==
          "stencil demo(x, y)\n"
          "axis x spacing 1 origin 0\n"
          "axis y spacing 1 origin 0\n"
          "param dt = 0.25\n"
          "field u: f32 state, history 1, boundary x free free y fixed(1/3) free\n"
          "field mu: f32 let, halo y 2 0, boundary x clamp clamp y clamp clamp\n"
          "\n"
          "%1 = u[x+1] - u\n"
          "mu = %1 * %1 - (4/5 - u)    margins x 0 1\n"
          "u[t+1] = if mu[y-2] < -1 then -u else f32(dt) * (u[t-1] / u)    margins x 0 1\n"
          "reduce change = max(abs(u[t+1] - u))\n");
}
