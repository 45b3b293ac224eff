#include "compiler/ir/constants.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace halo::ir {

namespace {

Rational truth(bool value) {
    return Rational(value ? 1 : 0);
}

std::optional<Rational> unary_value(UnaryOp op, const Rational& a) {
    switch (op) {
        case UnaryOp::negate:
            return -a;
        case UnaryOp::logical_not:
            return truth(a.is_zero());
        case UnaryOp::convert:
            return a;  // not rounded yet
    }
    return std::nullopt;
}

// Integers and truths are not rounded late, and integers wrap: what is not plainly exact is left to the node.
std::optional<Rational> as_type(const Rational& value, Scalar type) {
    switch (type) {
        case Scalar::boolean:
            return truth(!value.is_zero());
        case Scalar::i32:
        case Scalar::i64: {
            const std::optional<std::int64_t> whole = value.as_int64();
            const bool fits = whole && (type == Scalar::i64 || *whole == static_cast<std::int32_t>(*whole));
            return fits ? std::optional(value) : std::nullopt;
        }
        case Scalar::f32:
        case Scalar::f64:
            break;
    }
    return value;
}

std::optional<Rational> binary_value(BinaryOp op, const Rational& a, const Rational& b) {
    switch (op) {
        case BinaryOp::add:
            return a + b;
        case BinaryOp::sub:
            return a - b;
        case BinaryOp::mul:
            return a * b;
        case BinaryOp::div:
            if (b.is_zero()) return std::nullopt;
            return a / b;
        case BinaryOp::min:
            return a < b ? a : b;
        case BinaryOp::max:
            return a > b ? a : b;
        case BinaryOp::floor_div:
        case BinaryOp::floor_mod:
            return std::nullopt;  // integers keep their own arithmetic
        case BinaryOp::less:
            return truth(a < b);
        case BinaryOp::less_equal:
            return truth(a <= b);
        case BinaryOp::greater:
            return truth(a > b);
        case BinaryOp::greater_equal:
            return truth(a >= b);
        case BinaryOp::equal:
            return truth(a == b);
        case BinaryOp::not_equal:
            return truth(!(a == b));
        case BinaryOp::logical_and:
            return truth(!a.is_zero() && !b.is_zero());
        case BinaryOp::logical_or:
            return truth(!a.is_zero() || !b.is_zero());
    }
    return std::nullopt;
}

}  // namespace

std::optional<Rational> exact_value(const Expr& expr, const std::vector<std::optional<Rational>>& operands) {
    if (const Constant* constant = std::get_if<Constant>(&expr.node)) return constant->value;
    for (const std::optional<Rational>& operand : operands)
        if (!operand) return std::nullopt;
    std::optional<Rational> value;
    if (const Unary* unary = std::get_if<Unary>(&expr.node)) value = unary_value(unary->op, *operands[0]);
    if (const Binary* binary = std::get_if<Binary>(&expr.node))
        value = binary_value(binary->op, *operands[0], *operands[1]);
    if (std::holds_alternative<Fma>(expr.node)) value = *operands[0] * *operands[1] + *operands[2];
    if (std::holds_alternative<Select>(expr.node)) value = operands[0]->is_zero() ? operands[2] : operands[1];
    const Call* call = std::get_if<Call>(&expr.node);
    if (call && call->function == Function::abs) value = abs(*operands[0]);
    if (value && value->bits() > kMaxExactBits) return std::nullopt;
    return value ? as_type(*value, expr.type) : value;
}

std::vector<std::optional<Rational>> exact_values(const Program& program) {
    std::vector<std::optional<Rational>> values(program.exprs.size());
    std::vector<std::optional<Rational>> operands;
    for (std::size_t i = 0; i < program.exprs.size(); ++i) {
        operands.clear();
        for_each_operand(program.exprs[i],
                         [&](ExprId operand) { operands.push_back(values[operand.index]); });
        values[i] = exact_value(program.exprs[i], operands);
    }
    return values;
}

}  // namespace halo::ir
