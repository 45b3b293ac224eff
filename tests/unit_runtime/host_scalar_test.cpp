#include <cmath>
#include <functional>
#include <vector>

#include "catch.h"
#include "runtime/core/error.h"
#include "runtime/core/launch_plan.h"

using namespace halo::rt;
using Op = HostScalar::Op;

namespace {

constexpr std::array<std::int64_t, 3> kScalarExtent = {8, 9, 10};

HostScalar::Step constant(double value) {
    return {Op::constant, value, 0};
}
HostScalar::Step op(Op kind) {
    return {kind, 0, 0};
}

double run(std::vector<HostScalar::Step> steps, const std::vector<double>& params = {}) {
    return evaluate(HostScalar{std::move(steps)}, params, kScalarExtent);
}

}  // namespace

TEST_CASE("leaves are constants, parameters and extents") {
    CHECK(run({constant(0.1)}) == 0.1);
    CHECK(run({{Op::param, 0, 1}}, {3, 4}) == 4);
    CHECK(run({{Op::extent, 0, 2}}) == 10);
}

TEST_CASE("functions of one operand") {
    const std::vector<std::pair<Op, std::function<double(double)>>> functions = {
        {Op::negate, [](double x) { return -x; }},
        {Op::logical_not, [](double x) { return x == 0 ? 1.0 : 0.0; }},
        {Op::sqrt, [](double x) { return std::sqrt(x); }},
        {Op::rsqrt, [](double x) { return 1 / std::sqrt(x); }},
        {Op::cbrt, [](double x) { return std::cbrt(x); }},
        {Op::exp, [](double x) { return std::exp(x); }},
        {Op::log, [](double x) { return std::log(x); }},
        {Op::sin, [](double x) { return std::sin(x); }},
        {Op::cos, [](double x) { return std::cos(x); }},
        {Op::tan, [](double x) { return std::tan(x); }},
        {Op::asin, [](double x) { return std::asin(x); }},
        {Op::acos, [](double x) { return std::acos(x); }},
        {Op::atan, [](double x) { return std::atan(x); }},
        {Op::sinh, [](double x) { return std::sinh(x); }},
        {Op::cosh, [](double x) { return std::cosh(x); }},
        {Op::tanh, [](double x) { return std::tanh(x); }},
        {Op::abs, [](double x) { return std::fabs(x); }},
        {Op::floor, [](double x) { return std::floor(x); }},
        {Op::ceil, [](double x) { return std::ceil(x); }},
        {Op::round_f32, [](double x) { return static_cast<double>(static_cast<float>(x)); }}};
    for (const auto& [kind, function] : functions) {
        INFO(static_cast<int>(kind));
        CHECK(run({constant(0.3), op(kind)}) == function(0.3));
    }
    CHECK(run({constant(0), op(Op::logical_not)}) == 1);
    CHECK(run({constant(-2.5), op(Op::abs)}) == 2.5);
}

TEST_CASE("operations on two operands take the deeper one as the left") {
    const std::vector<std::pair<Op, double>> cases = {
        {Op::add, 10},       {Op::sub, 4},         {Op::mul, 21},          {Op::div, 7.0 / 3},
        {Op::min, 3},        {Op::max, 7},         {Op::pow, 343},         {Op::less, 0},
        {Op::less_equal, 0}, {Op::greater, 1},     {Op::greater_equal, 1}, {Op::equal, 0},
        {Op::not_equal, 1},  {Op::logical_and, 1}, {Op::logical_or, 1},    {Op::atan2, std::atan2(7.0, 3.0)},
        {Op::mul_i32, 21},   {Op::floor_div, 2},   {Op::floor_mod, 1}};
    for (const auto& [kind, wanted] : cases) {
        INFO(static_cast<int>(kind));
        CHECK(run({constant(7), constant(3), op(kind)}) == wanted);
    }
    CHECK(run({constant(1), constant(0), op(Op::logical_and)}) == 0);
    CHECK(run({constant(0), constant(0), op(Op::logical_or)}) == 0);
    CHECK(run({constant(2), constant(2), op(Op::less_equal)}) == 1);
}

TEST_CASE("whole numbers round down, and wrap around the ends of i32") {
    CHECK(run({constant(-7), constant(3), op(Op::floor_div)}) == -3);
    CHECK(run({constant(-7), constant(3), op(Op::floor_mod)}) == 2);
    CHECK(run({constant(7), constant(-3), op(Op::floor_mod)}) == -2);
    CHECK(run({constant(7), constant(0), op(Op::floor_div)}) == 0);
    CHECK(run({constant(7), constant(0), op(Op::floor_mod)}) == 0);
    CHECK(run({constant(2147483648.0), op(Op::wrap_i32)}) == -2147483648.0);
    CHECK(run({constant(-2147483649.0), op(Op::wrap_i32)}) == 2147483647);
    CHECK(run({constant(5), op(Op::wrap_i32)}) == 5);
    CHECK(run({constant(2147483647), constant(2147483647), op(Op::mul_i32)}) == 1);
}

TEST_CASE("operations on three operands") {
    CHECK(run({constant(2), constant(3), constant(4), op(Op::fma)}) == 10);
    CHECK(run({constant(1), constant(3), constant(4), op(Op::select)}) == 3);
    CHECK(run({constant(0), constant(3), constant(4), op(Op::select)}) == 4);
    const double tiny = std::ldexp(1.0, -30);  // rounded once, not twice
    CHECK(run({constant(1 + tiny), constant(1 - tiny), constant(-1), op(Op::fma)}) == -tiny * tiny);
}

TEST_CASE("damaged programs are refused") {
    CHECK_THROWS_AS(run({}), Error);
    CHECK_THROWS_AS(run({op(Op::add)}), Error);
    CHECK_THROWS_AS(run({constant(1), op(Op::add)}), Error);
    CHECK_THROWS_AS(run({constant(1), constant(2)}), Error);
    CHECK_THROWS_AS(run({{Op::param, 0, 0}}), Error);
    CHECK_THROWS_AS(run({{Op::param, 0, -1}}, {1}), Error);
    CHECK_THROWS_AS(run({{Op::extent, 0, 3}}), Error);
}
