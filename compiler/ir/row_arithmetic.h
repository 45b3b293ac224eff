// Arithmetic on rows of cells, as the interpreter defines it: every node is rounded to its own type, integers
// wrap, min and max of a NaN are their right operand.
#pragma once

#include <cstdint>

#include "compiler/ir/program.h"

namespace halo::ir {

constexpr bool is_comparison(BinaryOp op) {
    return op >= BinaryOp::less && op <= BinaryOp::not_equal;
}
constexpr bool is_logical(BinaryOp op) {
    return op == BinaryOp::logical_and || op == BinaryOp::logical_or;
}

// out[i] = a[i] op b[i] for i < n; `out` may be one of the operands. T: float, double, int32, int64.
template <class T>
void apply(BinaryOp op, const T* a, const T* b, T* out, std::int64_t n);

// out[i] = a[i] op b[i], a comparison or `and` or `or`. T: those above and uint8.
template <class T>
void compare(BinaryOp op, const T* a, const T* b, std::uint8_t* out, std::int64_t n);

// out[i] = function(a[i]) or function(a[i], b[i]); of integers only abs. T: those of apply().
template <class T>
void apply(Function function, const T* a, const T* b, T* out, std::int64_t n);

// One value, in f64; truth is 1 and 0. What is known before a launch is worked out by these.
double apply(BinaryOp op, double a, double b);
double apply(Function function, double a, double b);

}  // namespace halo::ir
