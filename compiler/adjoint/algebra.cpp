#include "compiler/adjoint/algebra.h"

#include "compiler/support/error.h"

namespace halo::adjoint {

using ir::BinaryOp;
using ir::ExprId;

std::optional<Rational> Algebra::constant(ExprId id) const {
    const ir::Expr& expr = program_[id];
    const auto* constant = std::get_if<ir::Constant>(&expr.node);
    if (constant == nullptr || !ir::is_real(expr.type)) return std::nullopt;
    return constant->value;
}

bool Algebra::is_zero(ExprId id) const {
    const std::optional<Rational> value = constant(id);
    return value && value->is_zero();
}

namespace {

bool is_one(const std::optional<Rational>& value) {
    return value && *value == Rational(1);
}

}  // namespace

ExprId Algebra::add(ExprId a, ExprId b) {
    if (is_zero(a)) return b;
    if (is_zero(b)) return a;
    const auto left = constant(a), right = constant(b);
    if (left && right) return number(*left + *right, program_[a].type);
    if (a == b) return mul(number(2, program_[a].type), a);
    const auto* negated = std::get_if<ir::Unary>(&program_[b].node);
    if (negated && negated->op == ir::UnaryOp::negate) return sub(a, negated->operand);
    if (right && right->is_negative()) return sub(a, number(-*right, program_[b].type));
    return builder_.binary(BinaryOp::add, a, b);
}

ExprId Algebra::sub(ExprId a, ExprId b) {
    if (is_zero(b)) return a;
    if (is_zero(a)) return negate(b);
    const auto left = constant(a), right = constant(b);
    if (left && right) return number(*left - *right, program_[a].type);
    const auto* negated = std::get_if<ir::Unary>(&program_[b].node);
    if (negated && negated->op == ir::UnaryOp::negate) return add(a, negated->operand);
    return builder_.binary(BinaryOp::sub, a, b);
}

// Whether a sign goes into a number that the product begins with.
bool Algebra::has_number_first(ExprId id) const {
    if (constant(id)) return true;
    const auto* binary = std::get_if<ir::Binary>(&program_[id].node);
    const bool multiplies = binary && (binary->op == BinaryOp::mul || binary->op == BinaryOp::div);
    return multiplies && has_number_first(binary->left);
}

ExprId Algebra::negate(ExprId a) {
    if (const auto value = constant(a)) return number(-*value, program_[a].type);
    const ir::Expr expr = program_[a];
    const auto* unary = std::get_if<ir::Unary>(&expr.node);
    if (unary && unary->op == ir::UnaryOp::negate) return unary->operand;
    const auto* binary = std::get_if<ir::Binary>(&expr.node);
    if (binary && (binary->op == BinaryOp::mul || binary->op == BinaryOp::div)) {
        if (has_number_first(binary->left)) {
            const ExprId turned = negate(binary->left);
            return binary->op == BinaryOp::mul ? mul(turned, binary->right) : div(turned, binary->right);
        }
    }
    if (binary && binary->op == BinaryOp::sub)
        return builder_.binary(BinaryOp::sub, binary->right, binary->left);
    return builder_.unary(ir::UnaryOp::negate, a);
}

ExprId Algebra::mul(ExprId a, ExprId b) {
    const auto left = constant(a), right = constant(b);
    if (left && right) return number(*left * *right, program_[a].type);
    if (right) return mul(b, a);
    if (left && left->is_zero()) return a;
    if (is_one(left)) return b;
    if (left && *left == Rational(-1)) return negate(b);
    const ir::Expr second = program_[b];
    if (const auto* unary = std::get_if<ir::Unary>(&second.node); unary && unary->op == ir::UnaryOp::negate)
        return negate(mul(a, unary->operand));
    const ir::Expr first = program_[a];
    if (const auto* unary = std::get_if<ir::Unary>(&first.node); unary && unary->op == ir::UnaryOp::negate)
        return negate(mul(unary->operand, b));
    if (left) {
        // 2 * (3 * x) is 6 * x: exact factors are one.
        const auto* product = std::get_if<ir::Binary>(&second.node);
        if (product && product->op == BinaryOp::mul)
            if (const auto factor = constant(product->left))
                return mul(number(*left * *factor, second.type), product->right);
    }
    return builder_.binary(BinaryOp::mul, a, b);
}

ExprId Algebra::div(ExprId a, ExprId b) {
    const auto left = constant(a), right = constant(b);
    if (left && left->is_zero()) return a;
    if (right && !right->is_zero()) {
        if (left) return number(*left / *right, program_[a].type);
        return mul(number(Rational(1) / *right, program_[b].type), a);
    }
    const ir::Expr first = program_[a];
    if (const auto* unary = std::get_if<ir::Unary>(&first.node); unary && unary->op == ir::UnaryOp::negate)
        return negate(div(unary->operand, b));
    return builder_.binary(BinaryOp::div, a, b);
}

ExprId Algebra::as(ExprId a, ir::Scalar type) {
    if (program_[a].type == type) return a;
    if (const auto value = constant(a)) return number(*value, type);
    const ir::Expr expr = program_[a];
    const auto* unary = std::get_if<ir::Unary>(&expr.node);
    if (unary && unary->op == ir::UnaryOp::negate && ir::is_real(type))
        return negate(builder_.convert(unary->operand, type));
    return builder_.convert(a, type);
}

ExprId Algebra::select(ExprId condition, ExprId then, ExprId otherwise) {
    return then == otherwise ? then : builder_.select(condition, then, otherwise);
}

ExprId Algebra::is_not(ExprId condition) {
    const auto* unary = std::get_if<ir::Unary>(&program_[condition].node);
    if (unary && unary->op == ir::UnaryOp::logical_not) return unary->operand;
    return builder_.unary(ir::UnaryOp::logical_not, condition);
}

ExprId Algebra::both(std::optional<ExprId> a, ExprId b) {
    return a && *a != b ? builder_.binary(BinaryOp::logical_and, *a, b) : b;
}

ExprId Algebra::index(int axis) {
    return builder_.add(
        {ir::compute_type(program_), ir::Coordinate{ir::CoordinateKind::index, axis}, SourceRange{}});
}

ExprId Algebra::place(const ir::Region::Bound& bound, int axis) {
    const ir::Scalar type = ir::compute_type(program_);
    if (!bound.from_high) return number(bound.offset, type);
    const ExprId length =
        builder_.add({ir::Scalar::f64, ir::Coordinate{ir::CoordinateKind::extent, axis}, SourceRange{}});
    return as(add(length, number(bound.offset, ir::Scalar::f64)), type);
}

void Algebra::look_up_to(ExprId id) {
    for (std::size_t i = varies_.size(); i <= id.index; ++i) {
        const ir::Expr& expr = program_.exprs[i];
        const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node);
        bool reads = std::holds_alternative<ir::Access>(expr.node);
        bool varies = reads || std::holds_alternative<ir::TableSum>(expr.node) ||
                      std::holds_alternative<ir::Noise>(expr.node) ||
                      std::holds_alternative<ir::PointColumn>(expr.node) ||
                      (coordinate && (coordinate->kind == ir::CoordinateKind::index ||
                                      coordinate->kind == ir::CoordinateKind::position));
        ir::for_each_operand(expr, [&](ExprId operand) {
            varies = varies || varies_[operand.index];
            reads = reads || reads_[operand.index];
        });
        varies_.push_back(varies);
        reads_.push_back(reads);
    }
}

bool Algebra::is_same_in_all_cells(ExprId id) {
    look_up_to(id);
    return !varies_[id.index];
}

bool Algebra::reads_field(ExprId id) {
    look_up_to(id);
    return reads_[id.index];
}

}  // namespace halo::adjoint
