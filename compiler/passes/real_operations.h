// Sums, products and negations of reals, as passes look for them; integers stay as they are written.
#pragma once

#include <variant>

#include "compiler/ir/program.h"

namespace halo::passes {

inline const ir::Binary* binary_of(const ir::Expr& expr, ir::BinaryOp first, ir::BinaryOp second) {
    const ir::Binary* binary = std::get_if<ir::Binary>(&expr.node);
    return binary && is_real(expr.type) && (binary->op == first || binary->op == second) ? binary : nullptr;
}

inline const ir::Binary* sum_of(const ir::Expr& expr) {
    return binary_of(expr, ir::BinaryOp::add, ir::BinaryOp::sub);
}

inline const ir::Binary* product_of(const ir::Expr& expr) {
    return binary_of(expr, ir::BinaryOp::mul, ir::BinaryOp::div);
}

inline const ir::Unary* negation_of(const ir::Expr& expr) {
    const ir::Unary* unary = std::get_if<ir::Unary>(&expr.node);
    return unary && unary->op == ir::UnaryOp::negate && is_real(expr.type) ? unary : nullptr;
}

}  // namespace halo::passes
