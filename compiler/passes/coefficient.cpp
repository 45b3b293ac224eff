#include "compiler/passes/coefficient.h"

#include <cstddef>

#include "compiler/ir/constants.h"

namespace halo::passes {

using namespace ir;

namespace {

// Products of more factors than this are left as they are written.
constexpr std::size_t kMaxFactors = 64;

// Rounds very long numbers: kernels take f64 at most.
Rational bounded(Rational value) {
    return value.bits() <= kMaxExactBits ? value : Rational::from_double(value.to_double());
}

void multiply_power(Coefficient& coefficient, ExprId factor, int exponent) {
    const auto [place, added] = coefficient.powers.emplace(factor, exponent);
    if (added) return;
    place->second += exponent;
    if (place->second == 0) coefficient.powers.erase(place);
}

}  // namespace

Coefficient operator*(const Coefficient& a, const Coefficient& b) {
    Coefficient result = a;
    result.scale = bounded(a.scale * b.scale);
    for (const auto& [factor, exponent] : b.powers)
        multiply_power(result, factor, exponent);
    return result;
}

Coefficient inverse(const Coefficient& a) {
    Coefficient result;
    result.scale = Rational(1) / a.scale;
    for (const auto& [factor, exponent] : a.powers)
        result.powers.emplace(factor, -exponent);
    return result;
}

Coefficient operator-(const Coefficient& a) {
    Coefficient result = a;
    result.scale = -a.scale;
    return result;
}

Coefficient magnitude(const Coefficient& a) {
    return a.scale.is_negative() ? -a : a;
}

Coefficient Coefficients::factors(ExprId uniform) {
    Coefficient result;
    std::vector<std::pair<ExprId, int>> pending{{uniform, 1}};  // with exponent 1 or -1
    std::size_t seen = 0;
    while (!pending.empty()) {
        const auto [id, exponent] = pending.back();
        pending.pop_back();
        if (++seen > kMaxFactors) return Coefficient{{{uniform, 1}}, 1};
        const Expr& expr = program_[id];
        const Constant* constant = std::get_if<Constant>(&expr.node);
        const Unary* unary = std::get_if<Unary>(&expr.node);
        const Binary* binary = std::get_if<Binary>(&expr.node);
        if (constant && !(exponent < 0 && constant->value.is_zero())) {
            result.scale =
                bounded(exponent > 0 ? result.scale * constant->value : result.scale / constant->value);
        } else if (unary && unary->op == UnaryOp::negate) {
            result.scale = -result.scale;
            pending.emplace_back(unary->operand, exponent);
        } else if (binary && binary->op == BinaryOp::mul) {
            pending.emplace_back(binary->right, exponent);
            pending.emplace_back(binary->left, exponent);
        } else if (binary && binary->op == BinaryOp::div) {
            pending.emplace_back(binary->right, -exponent);
            pending.emplace_back(binary->left, exponent);
        } else {
            multiply_power(result, id, exponent);
        }
    }
    return result;
}

ExprId Coefficients::product(const std::vector<std::pair<ExprId, int>>& powers) {
    ExprId result;
    bool any = false;
    for (const auto& [factor, exponent] : powers) {
        for (int i = 0; i < exponent; ++i) {
            result = any ? builder_.binary(BinaryOp::mul, result, factor) : factor;
            any = true;
        }
    }
    return result;
}

ExprId Coefficients::expression(const Coefficient& coefficient) {
    if (coefficient.is_zero() || coefficient.powers.empty())
        return builder_.constant(coefficient.scale, Scalar::f64);
    std::vector<std::pair<ExprId, int>> above, below;
    for (const auto& [factor, exponent] : coefficient.powers) {
        if (exponent > 0) above.emplace_back(factor, exponent);
        if (exponent < 0) below.emplace_back(factor, -exponent);
    }
    const Rational scale = abs(coefficient.scale);
    ExprId result;
    if (above.empty()) {
        result = builder_.constant(scale, Scalar::f64);
    } else {
        result = product(above);
        if (!(scale == Rational(1)))
            result = builder_.binary(BinaryOp::mul, builder_.constant(scale, Scalar::f64), result);
    }
    if (!below.empty()) result = builder_.binary(BinaryOp::div, result, product(below));
    return coefficient.scale.is_negative() ? builder_.unary(UnaryOp::negate, result) : result;
}

ExprId Coefficients::expression(const Coefficient& coefficient, Scalar type) {
    if (coefficient.is_zero() || coefficient.powers.empty())
        return builder_.constant(coefficient.scale, type);
    return builder_.convert(expression(coefficient), type);
}

Coefficient Coefficients::sum(const Coefficient& a, const Coefficient& b) {
    if (a.is_zero()) return b;
    if (b.is_zero()) return a;
    Coefficient result;
    if (a.powers == b.powers) {
        result.powers = a.powers;
        result.scale = bounded(a.scale + b.scale);
        if (result.is_zero()) result.powers.clear();
        return result;
    }
    const BinaryOp op = b.scale.is_negative() ? BinaryOp::sub : BinaryOp::add;
    result.powers.emplace(builder_.binary(op, expression(a), expression(magnitude(b))), 1);
    return result;
}

}  // namespace halo::passes
