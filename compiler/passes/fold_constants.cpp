#include "compiler/passes/fold_constants.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "compiler/ir/constants.h"
#include "compiler/passes/rebuild.h"

namespace halo::passes {

using namespace ir;

namespace {

// 2^k, k of any sign.
bool is_power_of_two(const Rational& value) {
    if (value.is_zero() || value.is_negative()) return false;
    const double rounded = value.to_double();
    std::uint64_t bits = 0;
    static_assert(sizeof bits == sizeof rounded);
    __builtin_memcpy(&bits, &rounded, sizeof bits);
    const std::uint64_t exponent = bits >> 52;
    const bool safe =
        exponent > 1023 - 100 && exponent < 1023 + 100;  // so that its inverse is no subnormal float
    return safe && (bits & ((std::uint64_t{1} << 52) - 1)) == 0 && Rational::from_double(rounded) == value;
}

class Folder {
public:
    Folder(Program& program, ExprBuilder& builder, FoldConstants config)
        : program_(program), builder_(builder), config_(config) {}

    ExprId fold(Expr expr) {
        if (std::optional<ExprId> constant = fold_exactly(expr)) return *constant;
        std::optional<ExprId> simpler;
        if (const Unary* unary = std::get_if<Unary>(&expr.node)) simpler = fold_unary(expr.type, *unary);
        if (const Binary* binary = std::get_if<Binary>(&expr.node)) simpler = fold_binary(*binary);
        if (const Select* select = std::get_if<Select>(&expr.node)) simpler = fold_select(*select);
        const Call* call = std::get_if<Call>(&expr.node);
        if (call && call->function == Function::pow && is_constant(call->arguments[1], 0))
            simpler = builder_.constant(Rational(1), expr.type);  // of NaN, too
        return simpler ? *simpler : builder_.add(std::move(expr));
    }

private:
    std::optional<Rational> constant_of(ExprId id) const {
        const Constant* constant = std::get_if<Constant>(&program_[id].node);
        return constant ? std::optional(constant->value) : std::nullopt;
    }
    bool is_constant(ExprId id, std::int64_t value) const { return constant_of(id) == Rational(value); }

    std::optional<ExprId> negated(ExprId id) const {
        const Unary* unary = std::get_if<Unary>(&program_[id].node);
        return unary && unary->op == UnaryOp::negate ? std::optional(unary->operand) : std::nullopt;
    }

    // The operand of a negation: x where the expression is -x.
    std::optional<ExprId> opposite(ExprId id) {
        const std::optional<Rational> constant = constant_of(id);
        const bool has_opposite = is_real(program_[id].type) || (constant && constant->bits() < 31);
        if (constant && constant->is_negative() && has_opposite)
            return builder_.constant(-*constant, program_[id].type);
        return negated(id);
    }

    std::optional<ExprId> fold_exactly(const Expr& expr) {
        std::vector<std::optional<Rational>> operands;
        for_each_operand(expr, [&](ExprId operand) { operands.push_back(constant_of(operand)); });
        std::optional<Rational> value = exact_value(expr, operands);
        if (!value) return std::nullopt;
        return builder_.constant(std::move(*value), expr.type);
    }

    std::optional<ExprId> fold_unary(Scalar type, const Unary& node) {
        const Unary* inner = std::get_if<Unary>(&program_[node.operand].node);
        if (!inner || inner->op != node.op) return std::nullopt;
        if (node.op != UnaryOp::convert) return inner->operand;  // -(-x), not not x
        const bool widened_first = type == Scalar::f32 && program_[node.operand].type == Scalar::f64;
        if (widened_first && program_[inner->operand].type == type) return inner->operand;
        return std::nullopt;
    }

    std::optional<ExprId> fold_binary(const Binary& node) {
        switch (node.op) {
            case BinaryOp::add:
                return fold_add(node.left, node.right);
            case BinaryOp::sub:
                return fold_sub(node.left, node.right);
            case BinaryOp::mul:
                return fold_mul(node.left, node.right);
            case BinaryOp::div:
                return fold_div(node.left, node.right);
            case BinaryOp::logical_and:
            case BinaryOp::logical_or:
                return fold_logic(node);
            default:
                return std::nullopt;
        }
    }

    std::optional<ExprId> fold_add(ExprId left, ExprId right) {
        if (ignores_zero_signs(left) && is_constant(left, 0)) return right;
        if (ignores_zero_signs(left) && is_constant(right, 0)) return left;
        if (std::optional<ExprId> b = opposite(right)) return builder_.binary(BinaryOp::sub, left, *b);
        if (std::optional<ExprId> a = opposite(left)) return builder_.binary(BinaryOp::sub, right, *a);
        return std::nullopt;
    }

    std::optional<ExprId> fold_sub(ExprId left, ExprId right) {
        if (is_constant(right, 0)) return left;
        if (left == right && !is_real(program_[left].type))
            return builder_.constant(Rational(0), program_[left].type);
        if (ignores_zero_signs(left) && is_constant(left, 0)) return fold_negate(right);
        if (std::optional<ExprId> b = opposite(right)) return builder_.binary(BinaryOp::add, left, *b);
        return std::nullopt;
    }

    // Whole numbers have one zero.
    bool ignores_zero_signs(ExprId id) const {
        return config_.ignore_zero_signs || !is_real(program_[id].type);
    }

    ExprId fold_negate(ExprId operand) {
        if (std::optional<ExprId> inner = negated(operand)) return *inner;
        return builder_.unary(UnaryOp::negate, operand);
    }

    std::optional<ExprId> fold_mul(ExprId left, ExprId right) {
        const bool vanishes = config_.ignore_zero_factors || !is_real(program_[left].type);
        if (vanishes && is_constant(left, 0)) return left;
        if (vanishes && is_constant(right, 0)) return right;
        if (is_constant(left, 1)) return right;
        if (is_constant(right, 1)) return left;
        if (is_constant(left, -1)) return fold_negate(right);
        if (is_constant(right, -1)) return fold_negate(left);
        const std::optional<ExprId> a = negated(left), b = negated(right);
        if (a && b) return builder_.binary(BinaryOp::mul, *a, *b);
        return std::nullopt;
    }

    std::optional<ExprId> fold_div(ExprId left, ExprId right) {
        const std::optional<Rational> divisor = constant_of(right);
        if (!divisor) return std::nullopt;
        if (*divisor == Rational(1)) return left;
        if (*divisor == Rational(-1)) return fold_negate(left);
        if (!is_power_of_two(abs(*divisor))) return std::nullopt;
        const ExprId inverse = builder_.constant(Rational(1) / *divisor, program_[right].type);
        return builder_.binary(BinaryOp::mul, inverse, left);
    }

    std::optional<ExprId> fold_logic(const Binary& node) {
        const bool decisive = node.op == BinaryOp::logical_or;
        for (const auto& [known, other] :
             {std::pair(node.left, node.right), std::pair(node.right, node.left)}) {
            const std::optional<Rational> value = constant_of(known);
            if (value) return !value->is_zero() == decisive ? known : other;
        }
        if (node.left == node.right) return node.left;
        return std::nullopt;
    }

    std::optional<ExprId> fold_select(const Select& node) {
        if (node.then == node.otherwise) return node.then;
        const std::optional<Rational> condition = constant_of(node.condition);
        if (!condition) return std::nullopt;
        return condition->is_zero() ? node.otherwise : node.then;
    }

    const Program& program_;
    ExprBuilder& builder_;
    FoldConstants config_;
};

}  // namespace

void fold_constants(Program& program, FoldConstants config) {
    rebuild(program, [&](ExprBuilder& builder, Expr expr, ExprId) {
        return Folder(program, builder, config).fold(std::move(expr));
    });
    prune(program);  // operands of what was folded
}

}  // namespace halo::passes
