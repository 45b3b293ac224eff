#include "compiler/ir/row_arithmetic.h"

#include <cmath>
#include <type_traits>

#include "compiler/ir/rounding.h"
#include "compiler/support/error.h"

namespace halo::ir {

namespace {

template <class T, class Op>
void map(const T* a, T* out, std::int64_t n, Op op) {
    for (std::int64_t i = 0; i < n; ++i)
        out[i] = op(a[i]);
}

template <class T, class Result, class Op>
void map(const T* a, const T* b, Result* out, std::int64_t n, Op op) {
    for (std::int64_t i = 0; i < n; ++i)
        out[i] = static_cast<Result>(op(a[i], b[i]));
}

template <class T>
void apply_to_reals(BinaryOp op, const T* a, const T* b, T* out, std::int64_t n) {
    switch (op) {
        case BinaryOp::add:
            return map(a, b, out, n, [](T x, T y) { return x + y; });
        case BinaryOp::sub:
            return map(a, b, out, n, [](T x, T y) { return x - y; });
        case BinaryOp::mul:
            return map(a, b, out, n, [](T x, T y) { return x * y; });
        case BinaryOp::div:
            return map(a, b, out, n, [](T x, T y) { return x / y; });
        case BinaryOp::min:
            return map(a, b, out, n, [](T x, T y) { return x < y ? x : y; });
        case BinaryOp::max:
            return map(a, b, out, n, [](T x, T y) { return x > y ? x : y; });
        case BinaryOp::floor_div:
            return map(a, b, out, n, [](T x, T y) { return y == 0 ? T(0) : std::floor(x / y); });
        case BinaryOp::floor_mod:
            return map(a, b, out, n, [](T x, T y) { return y == 0 ? T(0) : x - y * std::floor(x / y); });
        default:
            throw InternalError("a comparison that gives a number");
    }
}

template <class T>
void apply_to_integers(BinaryOp op, const T* a, const T* b, T* out, std::int64_t n) {
    switch (op) {
        case BinaryOp::add:
            return map(a, b, out, n, wrap_add<T>);
        case BinaryOp::sub:
            return map(a, b, out, n, wrap_sub<T>);
        case BinaryOp::mul:
            return map(a, b, out, n, wrap_mul<T>);
        case BinaryOp::floor_div:
            return map(a, b, out, n, floor_div<T>);
        case BinaryOp::floor_mod:
            return map(a, b, out, n, floor_mod<T>);
        case BinaryOp::min:
            return map(a, b, out, n, [](T x, T y) { return x < y ? x : y; });
        case BinaryOp::max:
            return map(a, b, out, n, [](T x, T y) { return x > y ? x : y; });
        default:
            throw InternalError("a division or comparison that gives an integer");
    }
}

template <class T>
void apply_to_reals(Function function, const T* a, const T* b, T* out, std::int64_t n) {
    switch (function) {
        case Function::sqrt:
            return map(a, out, n, [](T x) { return std::sqrt(x); });
        case Function::rsqrt:
            return map(a, out, n, [](T x) { return T(1) / std::sqrt(x); });
        case Function::cbrt:
            return map(a, out, n, [](T x) { return std::cbrt(x); });
        case Function::exp:
            return map(a, out, n, [](T x) { return std::exp(x); });
        case Function::log:
            return map(a, out, n, [](T x) { return std::log(x); });
        case Function::sin:
            return map(a, out, n, [](T x) { return std::sin(x); });
        case Function::cos:
            return map(a, out, n, [](T x) { return std::cos(x); });
        case Function::tan:
            return map(a, out, n, [](T x) { return std::tan(x); });
        case Function::asin:
            return map(a, out, n, [](T x) { return std::asin(x); });
        case Function::acos:
            return map(a, out, n, [](T x) { return std::acos(x); });
        case Function::atan:
            return map(a, out, n, [](T x) { return std::atan(x); });
        case Function::sinh:
            return map(a, out, n, [](T x) { return std::sinh(x); });
        case Function::cosh:
            return map(a, out, n, [](T x) { return std::cosh(x); });
        case Function::tanh:
            return map(a, out, n, [](T x) { return std::tanh(x); });
        case Function::abs:
            return map(a, out, n, [](T x) { return std::fabs(x); });
        case Function::floor:
            return map(a, out, n, [](T x) { return std::floor(x); });
        case Function::ceil:
            return map(a, out, n, [](T x) { return std::ceil(x); });
        case Function::pow:
            return map(a, b, out, n, [](T x, T y) { return std::pow(x, y); });
        case Function::atan2:
            return map(a, b, out, n, [](T x, T y) { return std::atan2(x, y); });
        case Function::round:
            return map(a, out, n, [](T x) { return std::nearbyint(x); });
        case Function::trunc:
            return map(a, out, n, [](T x) { return std::trunc(x); });
        case Function::erf:
            return map(a, out, n, [](T x) { return std::erf(x); });
    }
}

}  // namespace

template <class T>
void apply(BinaryOp op, const T* a, const T* b, T* out, std::int64_t n) {
    if constexpr (std::is_integral_v<T>) {
        apply_to_integers(op, a, b, out, n);
    } else {
        apply_to_reals(op, a, b, out, n);
    }
}

template <class T>
void apply(Function function, const T* a, const T* b, T* out, std::int64_t n) {
    if constexpr (std::is_integral_v<T>) {
        if (function != Function::abs) throw InternalError("a real function that gives an integer");
        map(a, out, n, [](T x) { return x < 0 ? wrap_sub(T{0}, x) : x; });
    } else {
        apply_to_reals(function, a, b, out, n);
    }
}

template <class T>
void compare(BinaryOp op, const T* a, const T* b, std::uint8_t* out, std::int64_t n) {
    switch (op) {
        case BinaryOp::less:
            return map(a, b, out, n, [](T x, T y) { return x < y; });
        case BinaryOp::less_equal:
            return map(a, b, out, n, [](T x, T y) { return x <= y; });
        case BinaryOp::greater:
            return map(a, b, out, n, [](T x, T y) { return x > y; });
        case BinaryOp::greater_equal:
            return map(a, b, out, n, [](T x, T y) { return x >= y; });
        case BinaryOp::equal:
            return map(a, b, out, n, [](T x, T y) { return x == y; });
        case BinaryOp::not_equal:
            return map(a, b, out, n, [](T x, T y) { return x != y; });
        case BinaryOp::logical_and:
            return map(a, b, out, n, [](T x, T y) { return x != 0 && y != 0; });
        case BinaryOp::logical_or:
            return map(a, b, out, n, [](T x, T y) { return x != 0 || y != 0; });
        default:
            throw InternalError("arithmetic that gives a boolean");
    }
}

template void apply(BinaryOp, const float*, const float*, float*, std::int64_t);
template void apply(BinaryOp, const double*, const double*, double*, std::int64_t);
template void apply(BinaryOp, const std::int32_t*, const std::int32_t*, std::int32_t*, std::int64_t);
template void apply(BinaryOp, const std::int64_t*, const std::int64_t*, std::int64_t*, std::int64_t);
template void apply(Function, const float*, const float*, float*, std::int64_t);
template void apply(Function, const double*, const double*, double*, std::int64_t);
template void apply(Function, const std::int32_t*, const std::int32_t*, std::int32_t*, std::int64_t);
template void apply(Function, const std::int64_t*, const std::int64_t*, std::int64_t*, std::int64_t);
template void compare(BinaryOp, const float*, const float*, std::uint8_t*, std::int64_t);
template void compare(BinaryOp, const double*, const double*, std::uint8_t*, std::int64_t);
template void compare(BinaryOp, const std::int32_t*, const std::int32_t*, std::uint8_t*, std::int64_t);
template void compare(BinaryOp, const std::int64_t*, const std::int64_t*, std::uint8_t*, std::int64_t);
template void compare(BinaryOp, const std::uint8_t*, const std::uint8_t*, std::uint8_t*, std::int64_t);

double apply(BinaryOp op, double a, double b) {
    if (is_comparison(op) || is_logical(op)) {
        std::uint8_t truth = 0;
        compare(op, &a, &b, &truth, 1);
        return truth;
    }
    double result = 0;
    apply(op, &a, &b, &result, 1);
    return result;
}

double apply(Function function, double a, double b) {
    double result = 0;
    apply(function, &a, &b, &result, 1);
    return result;
}

}  // namespace halo::ir
