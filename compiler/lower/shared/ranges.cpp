#include "compiler/lower/shared/ranges.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "compiler/kernel/build.h"
#include "compiler/support/error.h"

namespace halo::lower {

using kernel::Expr;
using kernel::Type;

namespace {

// So far below the limits of i64 that rounding of sums in double cannot hide an overflow.
constexpr double kMostLong = 0x1p62;

Range all_of(ir::Scalar type) {
    switch (type) {
        case ir::Scalar::boolean:
            return {0, 1};
        case ir::Scalar::i32:
            return {-2147483648.0, 2147483647.0};
        default:
            return {-0x1p63, 0x1p63};
    }
}

bool inside(const Range& range, ir::Scalar type) {
    if (type == ir::Scalar::i64) return range.low >= -kMostLong && range.high <= kMostLong;
    return range.low >= -2147483648.0 && range.high <= 2147483647.0;
}

Range product(const Range& a, const Range& b) {
    const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    return {low, high};
}

// A helper that exists for both widths of integers.
struct OfWidth {
    kernel::Helper of_int, of_long;
    kernel::Helper operator()(ir::Scalar type) const { return type == ir::Scalar::i64 ? of_long : of_int; }
};
constexpr OfWidth kWrapAdd{kernel::Helper::wrap_add, kernel::Helper::wrap_add_long};
constexpr OfWidth kWrapSub{kernel::Helper::wrap_sub, kernel::Helper::wrap_sub_long};
constexpr OfWidth kWrapMul{kernel::Helper::wrap_mul, kernel::Helper::wrap_mul_long};
constexpr OfWidth kFloorDiv{kernel::Helper::floor_div, kernel::Helper::floor_div_long};
constexpr OfWidth kFloorMod{kernel::Helper::floor_mod, kernel::Helper::floor_mod_long};

}  // namespace

Range Integers::range(ir::ExprId id) {
    const auto known = known_.find(id.index);
    if (known != known_.end()) return known->second;
    return known_[id.index] = compute(id);
}

Range Integers::compute(ir::ExprId id) {
    const ir::Expr& expr = program_[id];
    const Range all = all_of(expr.type);
    if (const auto* constant = std::get_if<ir::Constant>(&expr.node)) {
        const double value = constant->value.to_double();
        return {value, value};
    }
    if (const auto* access = std::get_if<ir::Access>(&expr.node)) return of_field(access->field, all);
    if (std::holds_alternative<ir::Coordinate>(expr.node)) return {0, 2147483646.0};
    if (const auto* select = std::get_if<ir::Select>(&expr.node)) {
        const Range then = range(select->then), otherwise = range(select->otherwise);
        return {std::min(then.low, otherwise.low), std::max(then.high, otherwise.high)};
    }
    const auto* unary = std::get_if<ir::Unary>(&expr.node);
    if (unary && unary->op == ir::UnaryOp::convert) {
        if (ir::is_real(program_[unary->operand].type)) return all;
        const Range from = range(unary->operand);
        return {std::clamp(from.low, all.low, all.high), std::clamp(from.high, all.low, all.high)};
    }
    const bool computes =
        unary || std::holds_alternative<ir::Binary>(expr.node) || std::holds_alternative<ir::Call>(expr.node);
    if (!computes || expr.type == ir::Scalar::boolean) return all;
    const Exact result = exact(id);
    return result.fits ? result.range : all;
}

// A let has the range of its expression; the values of other fields are arbitrary.
Range Integers::of_field(ir::FieldId field, const Range& all) {
    if (program_[field].storage == ir::Storage::u8) return {0, 255};
    if (program_[field].role != ir::Role::intermediate) return all;
    for (const ir::Statement& statement : program_.statements) {
        const auto* assign = std::get_if<ir::Assign>(&statement);
        if (assign && assign->target == field) return range(assign->value);
    }
    return all;
}

Integers::Exact Integers::exact(ir::ExprId id) {
    const ir::Expr& expr = program_[id];
    Range result = all_of(expr.type);
    if (const auto* unary = std::get_if<ir::Unary>(&expr.node)) {
        const Range a = range(unary->operand);
        result = {-a.high, -a.low};
    } else if (const auto* call = std::get_if<ir::Call>(&expr.node)) {
        const Range a = range(call->arguments.front());
        const bool has_zero = a.low <= 0 && a.high >= 0;
        const double low = std::fabs(a.low), high = std::fabs(a.high);
        result = {has_zero ? 0 : std::min(low, high), std::max(low, high)};
    } else if (const auto* binary = std::get_if<ir::Binary>(&expr.node)) {
        const Range a = range(binary->left), b = range(binary->right);
        switch (binary->op) {
            case ir::BinaryOp::add:
                result = {a.low + b.low, a.high + b.high};
                break;
            case ir::BinaryOp::sub:
                result = {a.low - b.high, a.high - b.low};
                break;
            case ir::BinaryOp::mul:
                result = product(a, b);
                if (binary->left == binary->right) result.low = std::max(result.low, 0.0);  // a square
                break;
            case ir::BinaryOp::min:
                result = {std::min(a.low, b.low), std::min(a.high, b.high)};
                break;
            case ir::BinaryOp::max:
                result = {std::max(a.low, b.low), std::max(a.high, b.high)};
                break;
            case ir::BinaryOp::floor_div:
                if (b.low >= 1) result = {std::min(a.low, 0.0), std::max(a.high, 0.0)};
                break;
            case ir::BinaryOp::floor_mod:
                if (b.low >= 1) result = {0, b.high - 1};
                break;
            default:
                break;
        }
    }
    return {result, inside(result, expr.type)};
}

Expr Integers::binary(ir::ExprId id, Expr left, Expr right) {
    const ir::Expr& expr = program_[id];
    const auto& node = std::get<ir::Binary>(expr.node);
    const bool is_plain = exact(id).fits;
    const auto operation = [&](kernel::Operator op, const OfWidth& helper) {
        if (is_plain) return kernel::operation(op, std::move(left), std::move(right));
        return kernel::call_helper(helper(expr.type), {std::move(left), std::move(right)});
    };
    // C++ rounds towards zero, which is the same for operands that are not negative.
    const bool same = range(node.left).low >= 0 && range(node.right).low >= 1;
    const auto floored = [&](kernel::Operator op, const OfWidth& helper) {
        if (same) return kernel::operation(op, std::move(left), std::move(right));
        return kernel::call_helper(helper(expr.type), {std::move(left), std::move(right)});
    };
    switch (node.op) {
        case ir::BinaryOp::add:
            return operation(kernel::Operator::add, kWrapAdd);
        case ir::BinaryOp::sub:
            return operation(kernel::Operator::sub, kWrapSub);
        case ir::BinaryOp::mul:
            return operation(kernel::Operator::mul, kWrapMul);
        case ir::BinaryOp::floor_div:
            return floored(kernel::Operator::div, kFloorDiv);
        case ir::BinaryOp::floor_mod:
            return floored(kernel::Operator::mod, kFloorMod);
        default:
            throw InternalError("no arithmetic of integers");
    }
}

Expr Integers::negate(ir::ExprId id, Expr operand) {
    if (exact(id).fits) return -std::move(operand);
    const Type type = operand.type();
    return kernel::call_helper(kWrapSub(program_[id].type),
                               {kernel::int_literal(0, type), std::move(operand)});
}

Expr Integers::absolute(ir::ExprId id, Expr operand) {
    const Type type = operand.type();
    const Expr negative = exact(id).fits ? -operand
                                         : kernel::call_helper(kWrapSub(program_[id].type),
                                                               {kernel::int_literal(0, type), operand});
    return kernel::select(operand < kernel::int_literal(0, type), negative, operand);
}

}  // namespace halo::lower
