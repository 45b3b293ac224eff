#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/launch_plan.h"
#include "runtime/core/series.h"

namespace halo::rt {

namespace {

using Op = HostScalar::Op;

// Wraps around modulo 2^32, into [-2^31, 2^31).
std::int32_t wrapped(std::int64_t value) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

double apply_unary(Op op, double x) {
    switch (op) {
        case Op::negate:
            return -x;
        case Op::logical_not:
            return x == 0 ? 1 : 0;
        case Op::sqrt:
            return std::sqrt(x);
        case Op::rsqrt:
            return 1 / std::sqrt(x);
        case Op::cbrt:
            return std::cbrt(x);
        case Op::exp:
            return std::exp(x);
        case Op::log:
            return std::log(x);
        case Op::sin:
            return std::sin(x);
        case Op::cos:
            return std::cos(x);
        case Op::tan:
            return std::tan(x);
        case Op::asin:
            return std::asin(x);
        case Op::acos:
            return std::acos(x);
        case Op::atan:
            return std::atan(x);
        case Op::sinh:
            return std::sinh(x);
        case Op::cosh:
            return std::cosh(x);
        case Op::tanh:
            return std::tanh(x);
        case Op::abs:
            return std::fabs(x);
        case Op::floor:
            return std::floor(x);
        case Op::ceil:
            return std::ceil(x);
        case Op::round:
            return std::nearbyint(x);
        case Op::trunc:
            return std::trunc(x);
        case Op::erf:
            return std::erf(x);
        case Op::wrap_i32:
            return wrapped(static_cast<std::int64_t>(x));
        default:
            return static_cast<double>(static_cast<float>(x));  // round_f32
    }
}

double apply_binary(Op op, double a, double b) {
    switch (op) {
        case Op::add:
            return a + b;
        case Op::sub:
            return a - b;
        case Op::mul:
            return a * b;
        case Op::div:
            return a / b;
        case Op::min:
            return std::fmin(a, b);
        case Op::max:
            return std::fmax(a, b);
        case Op::pow:
            return std::pow(a, b);
        case Op::atan2:
            return std::atan2(a, b);
        case Op::mul_i32:
            return wrapped(static_cast<std::int64_t>(a) * static_cast<std::int64_t>(b));
        case Op::floor_div:
            return b == 0 ? 0 : std::floor(a / b);
        case Op::floor_mod:
            return b == 0 ? 0 : a - b * std::floor(a / b);
        case Op::less:
            return a < b;
        case Op::less_equal:
            return a <= b;
        case Op::greater:
            return a > b;
        case Op::greater_equal:
            return a >= b;
        case Op::equal:
            return a == b;
        case Op::not_equal:
            return a != b;
        case Op::logical_and:
            return a != 0 && b != 0;
        default:
            return a != 0 || b != 0;  // logical_or
    }
}

[[noreturn]] void damaged() {
    throw Error(ErrorCode::bad_argument,
                "the launch plan is damaged: a scalar's program does not give one value");
}

}  // namespace

int operand_count(HostScalar::Op op) {
    switch (op) {
        case Op::constant:
        case Op::param:
        case Op::extent:
        case Op::step:
        case Op::reduction:
            return 0;
        case Op::negate:
        case Op::logical_not:
        case Op::sqrt:
        case Op::rsqrt:
        case Op::cbrt:
        case Op::exp:
        case Op::log:
        case Op::sin:
        case Op::cos:
        case Op::tan:
        case Op::asin:
        case Op::acos:
        case Op::atan:
        case Op::sinh:
        case Op::cosh:
        case Op::tanh:
        case Op::abs:
        case Op::floor:
        case Op::ceil:
        case Op::round:
        case Op::trunc:
        case Op::erf:
        case Op::wrap_i32:
        case Op::round_f32:
        case Op::series:
            return 1;
        case Op::fma:
        case Op::select:
            return 3;
        default:
            return 2;
    }
}

bool changes_with_step(const HostScalar& scalar) {
    return std::any_of(scalar.steps.begin(), scalar.steps.end(), [](const HostScalar::Step& step) {
        return step.op == Op::step || step.op == Op::reduction || step.op == Op::series;
    });
}

double evaluate(const HostScalar& scalar, const std::vector<double>& params, const Extent& extent,
                double step_number, const std::vector<double>& reductions,
                const std::vector<std::vector<double>>& series) {
    std::vector<double> stack;
    for (const HostScalar::Step& step : scalar.steps) {
        const int operands = operand_count(step.op);
        if (static_cast<std::size_t>(operands) > stack.size()) damaged();
        double* top = stack.data() + stack.size();
        double result = 0;
        if (step.op == Op::constant) {
            result = step.value;
        } else if (step.op == Op::param) {
            if (step.index < 0 || static_cast<std::size_t>(step.index) >= params.size()) damaged();
            result = params[step.index];
        } else if (step.op == Op::step) {
            result = step_number;
        } else if (step.op == Op::reduction) {
            if (step.index < 0 || static_cast<std::size_t>(step.index) >= reductions.size()) damaged();
            result = reductions[step.index];
        } else if (step.op == Op::extent) {
            if (step.index < 0 || step.index >= kMaxRank) damaged();
            result = static_cast<double>(extent[step.index]);
        } else if (step.op == Op::series) {
            if (step.index < 0 || static_cast<std::size_t>(step.index) >= series.size()) damaged();
            result = series_value(series[static_cast<std::size_t>(step.index)], top[-1]);
        } else if (operands == 1) {
            result = apply_unary(step.op, top[-1]);
        } else if (operands == 2) {
            result = apply_binary(step.op, top[-2], top[-1]);
        } else if (step.op == Op::fma) {
            result = std::fma(top[-3], top[-2], top[-1]);
        } else {
            result = top[-3] != 0 ? top[-2] : top[-1];
        }
        stack.resize(stack.size() - operands);
        stack.push_back(result);
    }
    if (stack.size() != 1) damaged();
    return stack.back();
}

}  // namespace halo::rt
