#include "compiler/lower/shared/host_scalar.h"

#include "catch.h"
#include "compiler/support/error.h"
#include "program_maker.h"

using namespace halo;
using namespace halo::ir;

TEST_CASE("uniform expressions become arithmetic on params and extents") {
    ProgramMaker make(2);
    const Term a = make.param("a", 3), b = make.param("b", 4);
    const Term nx = make.coordinate(CoordinateKind::extent, 0, Scalar::f64);
    const Term half = make.number(Rational(1, 2), Scalar::f64);
    const auto value = [&](const Term& term) {
        return rt::evaluate(lower::host_scalar(make.program, term.id), {3, 4}, {10, 20, 1});
    };
    CHECK(value(a * b + half) == 12.5);
    CHECK(value(a - b / a) == 3 - 4.0 / 3);
    CHECK(value(nx * half) == 5);
    CHECK(value(make.call(Function::sqrt, {b})) == 2);
    CHECK(value(make.call(Function::rsqrt, {b})) == 0.5);
    CHECK(value(make.select(make.binary(BinaryOp::less, a, b), a, b)) == 3);
    CHECK(value(make.select(make.binary(BinaryOp::greater, a, b), a, b)) == 4);
    CHECK(value(-a) == -3);
}

TEST_CASE("a conversion to f32 rounds, once") {
    ProgramMaker make(1);
    const Term a = make.param("a", 0.1);
    const Term third = make.number(Rational(1, 3), Scalar::f64);
    const auto scalar = lower::host_scalar(make.program, make.convert(a * third).id);
    CHECK(rt::evaluate(scalar, {0.1}, {1, 1, 1}) == static_cast<double>(static_cast<float>(0.1 * (1.0 / 3))));
}

TEST_CASE("what differs between cells is no host scalar") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::state);
    CHECK_THROWS_AS(lower::host_scalar(make.program, make.read(u).id), InternalError);
    CHECK_THROWS_AS(
        lower::host_scalar(make.program, make.coordinate(CoordinateKind::index, 0, Scalar::f64).id),
        InternalError);
}

TEST_CASE("a host scalar is named for its params") {
    ProgramMaker make(1);
    const Term lambda = make.param("lambda", 1), dt = make.param("dt", 1), dx = make.param("dx", 1);
    const Term one = make.number(1, Scalar::f64), two = make.number(2, Scalar::f64);
    const auto name = [&](const Term& term) { return lower::host_scalar_name(make.program, term.id); };
    CHECK(name(lambda * dt) == "lambda_dt");
    CHECK(name(one / dx) == "inv_dx");
    CHECK(name(dt / dx) == "dt_over_dx");
    CHECK(name(dt * dt) == "dt_squared");
    CHECK(name(-dt) == "minus_dt");
    CHECK(name(make.convert(lambda * dt)) == "lambda_dt");
    CHECK(name(two * two) == "scale");
    CHECK(name(lambda * dt * dx * lambda * dt * dx * lambda) == "scale");
}
