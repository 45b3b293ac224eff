#include <cmath>
#include <functional>
#include <vector>

#include "catch.h"
#include "runtime/core/error.h"
#include "runtime/core/launch_plan.h"

using namespace halo::rt;
using ScalarOp = HostScalar::Op;

namespace {

constexpr halo::rt::Extent kScalarExtent = {8, 9, 10};

HostScalar::Step constant(double value) {
    return {ScalarOp::constant, value, 0};
}
HostScalar::Step op(ScalarOp kind) {
    return {kind, 0, 0};
}

double run(std::vector<HostScalar::Step> steps, const std::vector<double>& params = {}) {
    return evaluate(HostScalar{std::move(steps)}, params, kScalarExtent);
}

}  // namespace

TEST_CASE("leaves are constants, parameters and extents") {
    CHECK(run({constant(0.1)}) == 0.1);
    CHECK(run({{ScalarOp::param, 0, 1}}, {3, 4}) == 4);
    CHECK(run({{ScalarOp::extent, 0, 2}}) == 10);
}

TEST_CASE("functions of one operand") {
    const std::vector<std::pair<ScalarOp, std::function<double(double)>>> functions = {
        {ScalarOp::negate, [](double x) { return -x; }},
        {ScalarOp::logical_not, [](double x) { return x == 0 ? 1.0 : 0.0; }},
        {ScalarOp::sqrt, [](double x) { return std::sqrt(x); }},
        {ScalarOp::rsqrt, [](double x) { return 1 / std::sqrt(x); }},
        {ScalarOp::cbrt, [](double x) { return std::cbrt(x); }},
        {ScalarOp::exp, [](double x) { return std::exp(x); }},
        {ScalarOp::log, [](double x) { return std::log(x); }},
        {ScalarOp::sin, [](double x) { return std::sin(x); }},
        {ScalarOp::cos, [](double x) { return std::cos(x); }},
        {ScalarOp::tan, [](double x) { return std::tan(x); }},
        {ScalarOp::asin, [](double x) { return std::asin(x); }},
        {ScalarOp::acos, [](double x) { return std::acos(x); }},
        {ScalarOp::atan, [](double x) { return std::atan(x); }},
        {ScalarOp::sinh, [](double x) { return std::sinh(x); }},
        {ScalarOp::cosh, [](double x) { return std::cosh(x); }},
        {ScalarOp::tanh, [](double x) { return std::tanh(x); }},
        {ScalarOp::abs, [](double x) { return std::fabs(x); }},
        {ScalarOp::floor, [](double x) { return std::floor(x); }},
        {ScalarOp::ceil, [](double x) { return std::ceil(x); }},
        {ScalarOp::round_f32, [](double x) { return static_cast<double>(static_cast<float>(x)); }}};
    for (const auto& [kind, function] : functions) {
        INFO(static_cast<int>(kind));
        CHECK(run({constant(0.3), op(kind)}) == function(0.3));
    }
    CHECK(run({constant(0), op(ScalarOp::logical_not)}) == 1);
    CHECK(run({constant(-2.5), op(ScalarOp::abs)}) == 2.5);
}

TEST_CASE("operations on two operands take the deeper one as the left") {
    const std::vector<std::pair<ScalarOp, double>> cases = {
        {ScalarOp::add, 10},          {ScalarOp::sub, 4},
        {ScalarOp::mul, 21},          {ScalarOp::div, 7.0 / 3},
        {ScalarOp::min, 3},           {ScalarOp::max, 7},
        {ScalarOp::pow, 343},         {ScalarOp::less, 0},
        {ScalarOp::less_equal, 0},    {ScalarOp::greater, 1},
        {ScalarOp::greater_equal, 1}, {ScalarOp::equal, 0},
        {ScalarOp::not_equal, 1},     {ScalarOp::logical_and, 1},
        {ScalarOp::logical_or, 1},    {ScalarOp::atan2, std::atan2(7.0, 3.0)},
        {ScalarOp::mul_i32, 21},      {ScalarOp::floor_div, 2},
        {ScalarOp::floor_mod, 1}};
    for (const auto& [kind, wanted] : cases) {
        INFO(static_cast<int>(kind));
        CHECK(run({constant(7), constant(3), op(kind)}) == wanted);
    }
    CHECK(run({constant(1), constant(0), op(ScalarOp::logical_and)}) == 0);
    CHECK(run({constant(0), constant(0), op(ScalarOp::logical_or)}) == 0);
    CHECK(run({constant(2), constant(2), op(ScalarOp::less_equal)}) == 1);
}

TEST_CASE("whole numbers round down, and wrap around the ends of i32") {
    CHECK(run({constant(-7), constant(3), op(ScalarOp::floor_div)}) == -3);
    CHECK(run({constant(-7), constant(3), op(ScalarOp::floor_mod)}) == 2);
    CHECK(run({constant(7), constant(-3), op(ScalarOp::floor_mod)}) == -2);
    CHECK(run({constant(7), constant(0), op(ScalarOp::floor_div)}) == 0);
    CHECK(run({constant(7), constant(0), op(ScalarOp::floor_mod)}) == 0);
    CHECK(run({constant(2147483648.0), op(ScalarOp::wrap_i32)}) == -2147483648.0);
    CHECK(run({constant(-2147483649.0), op(ScalarOp::wrap_i32)}) == 2147483647);
    CHECK(run({constant(5), op(ScalarOp::wrap_i32)}) == 5);
    CHECK(run({constant(2147483647), constant(2147483647), op(ScalarOp::mul_i32)}) == 1);
}

TEST_CASE("operations on three operands") {
    CHECK(run({constant(2), constant(3), constant(4), op(ScalarOp::fma)}) == 10);
    CHECK(run({constant(1), constant(3), constant(4), op(ScalarOp::select)}) == 3);
    CHECK(run({constant(0), constant(3), constant(4), op(ScalarOp::select)}) == 4);
    const double tiny = std::ldexp(1.0, -30);  // rounded once, not twice
    CHECK(run({constant(1 + tiny), constant(1 - tiny), constant(-1), op(ScalarOp::fma)}) == -tiny * tiny);
}

TEST_CASE("damaged programs are refused") {
    CHECK_THROWS_AS(run({}), Error);
    CHECK_THROWS_AS(run({op(ScalarOp::add)}), Error);
    CHECK_THROWS_AS(run({constant(1), op(ScalarOp::add)}), Error);
    CHECK_THROWS_AS(run({constant(1), constant(2)}), Error);
    CHECK_THROWS_AS(run({{ScalarOp::param, 0, 0}}), Error);
    CHECK_THROWS_AS(run({{ScalarOp::param, 0, -1}}, {1}), Error);
    CHECK_THROWS_AS(run({{ScalarOp::extent, 0, 4}}), Error);
}
