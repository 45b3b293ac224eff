#include "compiler/sema/arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/analysis.h"
#include "compiler/ir/row_arithmetic.h"
#include "compiler/sema/whole.h"

namespace halo::sema {

using ir::BinaryOp;
using ir::ExprId;
using ir::Function;
using ir::Scalar;

namespace {

bool compare(BinaryOp op, const Rational& left, const Rational& right) {
    switch (op) {
        case BinaryOp::less:
            return left < right;
        case BinaryOp::less_equal:
            return left <= right;
        case BinaryOp::greater:
            return left > right;
        case BinaryOp::greater_equal:
            return left >= right;
        case BinaryOp::equal:
            return left == right;
        default:
            return !(left == right);
    }
}

// Whole numbers are integers already.
bool is_number(const Value& value, std::int64_t number) {
    return value.is_number() && value.number == Rational(number);
}

}  // namespace

Arithmetic::Arithmetic(ir::Program& program, Scalar compute_type, DiagnosticSink& sink)
    : program_(program),
      builder_(program),
      compute_type_(compute_type),
      count_type_(compute_type),
      sink_(sink) {}

bool Arithmetic::spend(std::size_t work, SourceRange where) {
    if (exhausted_) return false;
    work_ += work;
    if (work_ <= kMaxWork && program_.exprs.size() <= kMaxExprs) return true;
    exhausted_ = true;
    sink_
        .report(DiagnosticKind::program_too_large, where,
                fmt::format("this is too large: written out, it has more than {} operations or nests them "
                            "more than {} deep",
                            kMaxExprs, kMaxExprDepth))
        .note("sums, products and `def`s are written out term by term; make their ranges smaller");
    return false;
}

ExprId Arithmetic::add(Scalar type, decltype(ir::Expr::node) node, SourceRange where) {
    const ExprId id = builder_.add({type, std::move(node), where});
    if (id.index < depth_.size()) return id;
    const ir::Expr& expr = program_[id];
    std::uint32_t depth = 0;
    bool uniform = ir::is_uniform_leaf(expr);
    ir::for_each_operand(expr, [&](ExprId operand) {
        depth = std::max(depth, depth_[operand.index] + 1);
        uniform = uniform && is_uniform_[operand.index];
    });
    depth_.push_back(depth);
    is_uniform_.push_back(uniform);
    if (depth > kMaxExprDepth) spend(kMaxWork, where);
    return id;
}

bool Arithmetic::check_size(const Rational& number, SourceRange where) {
    spend(1 + number.bits() / 64, where);
    if (number.bits() <= kMaxNumberBits) return true;
    sink_.report(
        DiagnosticKind::number_too_large, where,
        fmt::format("this number has more than {} binary digits when computed exactly", kMaxNumberBits));
    return false;
}

Value Arithmetic::leaf(Scalar type, decltype(ir::Expr::node) node, bool uniform, SourceRange where,
                       Position position) {
    return Value::of(add(type, std::move(node), where), type, uniform, position);
}

Value Arithmetic::value_of(ExprId id) const {
    // What is uniform is f64 until it meets a type.
    for (const auto* unary = std::get_if<ir::Unary>(&program_[id].node);
         unary != nullptr && unary->op == ir::UnaryOp::convert && is_uniform_[unary->operand.index];
         unary = std::get_if<ir::Unary>(&program_[id].node))
        id = unary->operand;
    const ir::Expr& expr = program_[id];
    if (const auto* constant = std::get_if<ir::Constant>(&expr.node)) return Value::of(constant->value);
    return Value::of(id, expr.type, is_uniform_[id.index]);
}

std::optional<Position> Arithmetic::join(const std::vector<const Value*>& values, SourceRange where) {
    Position all;
    for (const Value* value : values) {
        const Halves apart = all.conflict(value->position);
        if (apart != 0) {
            std::vector<std::string> axes;
            for (const ir::Axis& axis : program_.axes)
                axes.push_back(axis.name);
            sink_
                .report(
                    DiagnosticKind::position_mismatch, where,
                    fmt::format("values at {} meet values at {} here", position_text(all.half, apart, axes),
                                position_text(value->position.half, apart, axes)))
                .note("`interpolate(a, x)` takes `a` half a cell along `x`");
            return std::nullopt;
        }
        all = all.joined(value->position);
    }
    return all;
}

ExprId Arithmetic::as(const Value& value, Scalar type, SourceRange where) {
    if (value.is_number()) {
        check_fit(value.number, type, where);
        return add(type, ir::Constant{value.number}, where);
    }
    if (value.kind == Value::Kind::truth)
        return add(Scalar::boolean, ir::Constant{Rational(value.truth ? 1 : 0)}, where);
    if (value.is_poison()) return add(type, ir::Constant{Rational()}, where);
    if (value.type == type) return value.id;
    if (value.whole && ir::is_integer(type)) return in_integers(value.id, type, where);
    return add(type, ir::Unary{ir::UnaryOp::convert, value.id}, where);
}

Value Arithmetic::convert(const Value& value, Scalar type, SourceRange where) {
    if (value.is_poison()) return value;
    return Value::of(as(value, type, where), type, value.is_uniform(), value.position);
}

Value Arithmetic::rounded(const Value& value, Scalar type, SourceRange where) {
    if (value.is_poison()) return value;
    if (value.is_number()) {
        if (!check_fit(value.number, type, where)) return Value();
        return Value::of(
            Rational::from_double(type == Scalar::f32 ? value.number.to_float() : value.number.to_double()));
    }
    // What has one value per launch stays in f64.
    Value result = convert(value, type, where);
    if (value.is_uniform()) result = convert(result, Scalar::f64, where);
    return result;
}

Value Arithmetic::fold(BinaryOp op, const Rational& left, const Rational& right, SourceRange where) {
    if (ir::is_comparison(op)) return Value::of(compare(op, left, right));
    Rational result;
    switch (op) {
        case BinaryOp::add:
            result = left + right;
            break;
        case BinaryOp::sub:
            result = left - right;
            break;
        case BinaryOp::mul:
            result = left * right;
            break;
        case BinaryOp::div:
            result = left / right;
            break;
        case BinaryOp::min:
            result = right < left ? right : left;
            break;
        default:
            result = left < right ? right : left;
            break;
    }
    return check_size(result, where) ? Value::of(std::move(result)) : Value();
}

// Applies the identities that keep every bit, and keeps every operand that reads something.
std::optional<Value> Arithmetic::identity(BinaryOp op, const Value& left, const Value& right,
                                          SourceRange where) {
    if (op == BinaryOp::mul) {
        if (is_number(left, 1)) return right;
        if (is_number(right, 1)) return left;
        if (is_number(left, -1)) return negate(right, where);
        if (is_number(right, -1)) return negate(left, where);
    } else if (op == BinaryOp::sub) {
        if (is_number(right, 0)) return left;
    } else if (op == BinaryOp::div) {
        if (is_number(right, 1)) return left;
    }
    return std::nullopt;
}

Value Arithmetic::generated(BinaryOp op, const Value& left, const Value& right, SourceRange where) {
    if (left.is_poison() || right.is_poison()) return Value();
    if (op == BinaryOp::mul && (is_number(left, 0) || is_number(right, 0))) return Value::of(Rational());
    if (op == BinaryOp::add && is_number(left, 0)) return right;
    if (op == BinaryOp::add && is_number(right, 0)) return left;
    return binary(op, left, right, where);
}

Value Arithmetic::binary(BinaryOp op, const Value& left, const Value& right, SourceRange where) {
    if (left.is_poison() || right.is_poison() || !spend(1, where)) return Value();
    if (ir::is_logical(op)) {
        // A known operand decides the result, or leaves the other one.
        const bool decisive = op == BinaryOp::logical_or;
        if (left.kind == Value::Kind::truth) return left.truth == decisive ? left : right;
        if (right.kind == Value::Kind::truth) return right.truth == decisive ? right : left;
        const std::optional<Position> position = join({&left, &right}, where);
        if (!position) return Value();
        const bool uniform = left.is_uniform() && right.is_uniform();
        return leaf(Scalar::boolean, ir::Binary{op, left.id, right.id}, uniform, where, *position);
    }
    if (op == BinaryOp::div && is_number(right, 0)) {
        sink_.report(DiagnosticKind::division_by_zero, where, "this divides by zero");
        return Value();
    }
    if (left.is_number() && right.is_number()) return fold(op, left.number, right.number, where);
    const std::optional<Position> position = join({&left, &right}, where);
    if (!position) return Value();
    if (std::optional<Value> result = identity(op, left, right, where)) return *result;

    const Scalar type = op == BinaryOp::div ? real_type({left, right}) : common_type({left, right});
    const ExprId a = as(left, type, where), b = as(right, type, where);
    const bool uniform = left.is_uniform() && right.is_uniform();
    if (ir::is_comparison(op)) return leaf(Scalar::boolean, ir::Binary{op, a, b}, uniform, where, *position);
    const bool whole = op != BinaryOp::div && left.is_whole() && right.is_whole();
    return marked(leaf(type, ir::Binary{op, a, b}, uniform, where, *position), whole);
}

Value Arithmetic::negate(const Value& operand, SourceRange where) {
    if (operand.is_poison()) return operand;
    if (operand.is_number()) return Value::of(-operand.number);
    return marked(leaf(operand.type, ir::Unary{ir::UnaryOp::negate, operand.id}, operand.uniform, where,
                       operand.position),
                  operand.whole);
}

Value Arithmetic::logical_not(const Value& operand, SourceRange where) {
    if (operand.is_poison()) return operand;
    if (operand.kind == Value::Kind::truth) return Value::of(!operand.truth);
    return leaf(Scalar::boolean, ir::Unary{ir::UnaryOp::logical_not, operand.id}, operand.uniform, where,
                operand.position);
}

Value Arithmetic::exact_power(const Rational& base, std::int64_t exponent, SourceRange where) {
    if (base.is_zero() && exponent < 0) {
        sink_.report(DiagnosticKind::division_by_zero, where, "this divides by zero: a negative power of 0");
        return Value();
    }
    if (exponent == 0) return Value::of(Rational(1));
    if (base.is_zero() || base == Rational(1)) return Value::of(base);
    if (base == Rational(-1)) return Value::of(Rational(exponent % 2 == 0 ? 1 : -1));
    // A power has about |exponent| times the bits: refuse before it is computed.
    constexpr std::int64_t kMaxExponent = 4 * kMaxNumberBits;
    const bool is_long = exponent > kMaxExponent || exponent < -kMaxExponent ||
                         base.bits() * static_cast<std::size_t>(std::abs(exponent)) > 4 * kMaxNumberBits;
    if (is_long) {
        sink_.report(
            DiagnosticKind::number_too_large, where,
            fmt::format("this number has more than {} binary digits when computed exactly", kMaxNumberBits));
        return Value();
    }
    Rational result = halo::power(base, static_cast<int>(exponent));
    return check_size(result, where) ? Value::of(std::move(result)) : Value();
}

Value Arithmetic::integer_power(const Value& base, int exponent, SourceRange where) {
    if (exponent < 0) {
        return binary(BinaryOp::div, Value::of(Rational(1)), integer_power(base, -exponent, where), where);
    }
    if (exponent == 1) return base;
    if (exponent % 2 == 0) {
        const Value half = integer_power(base, exponent / 2, where);
        return binary(BinaryOp::mul, half, half, where);
    }
    return binary(BinaryOp::mul, integer_power(base, exponent - 1, where), base, where);
}

Value Arithmetic::power(const Value& base, const Value& exponent, SourceRange where) {
    if (base.is_poison() || exponent.is_poison()) return Value();
    if (exponent.is_number()) {
        const std::optional<std::int64_t> integer = exponent.number.as_int64();
        if (integer && *integer == 0 && !base.is_expr()) return Value::of(Rational(1));
        // 1 whatever the base is, even NaN, but the base is read.
        if (integer && *integer == 0) return call(Function::pow, {base, exponent}, where);
        if (integer && base.is_number()) return exact_power(base.number, *integer, where);
        if (integer && std::abs(*integer) <= kMaxExpandedPower) {
            return integer_power(base, static_cast<int>(*integer), where);
        }
        if (exponent.number == Rational(1, 2)) return call(Function::sqrt, {base}, where);
    }
    return call(Function::pow, {base, exponent}, where);
}

Value Arithmetic::select(const Value& condition, const Value& then, const Value& otherwise,
                         SourceRange where) {
    if (condition.is_poison() || then.is_poison() || otherwise.is_poison() || !spend(1, where))
        return Value();
    const std::optional<Position> position = join({&condition, &then, &otherwise}, where);
    if (!position) return Value();
    if (condition.kind == Value::Kind::truth) return condition.truth ? then : otherwise;
    const bool uniform = condition.uniform && then.is_uniform() && otherwise.is_uniform();
    Scalar type = Scalar::boolean;
    if (!then.is_boolean()) {
        const bool by_branches = uniform || !then.is_uniform() || !otherwise.is_uniform();
        const bool counts = then.is_whole() && otherwise.is_whole();
        type = by_branches ? common_type({then, otherwise}) : counts ? count_type_ : compute_type_;
    }
    const ExprId a = as(then, type, where), b = as(otherwise, type, where);
    return marked(leaf(type, ir::Select{condition.id, a, b}, uniform, where, *position),
                  then.is_whole() && otherwise.is_whole());
}

// Folds functions that are exact on rational numbers. The values of the others are hardly ever rational.
std::optional<Value> Arithmetic::fold_call(Function function, const Value& argument) {
    const Rational& number = argument.number;
    if (function == Function::abs) return Value::of(halo::abs(number));
    if (!gives_whole(function)) return std::nullopt;
    if (number.is_integer()) return argument;
    const std::optional<Rational> below = floor_of(number);
    if (!below) return std::nullopt;
    const Rational above = *below + Rational(1);
    switch (function) {
        case Function::floor:
            return Value::of(*below);
        case Function::ceil:
            return Value::of(above);
        case Function::trunc:
            return Value::of(number.is_negative() ? above : *below);
        default:
            break;
    }
    const Rational past = number - *below;
    const bool is_even = below->as_int64().value_or(0) % 2 == 0;
    const bool down = past < Rational(1, 2) || (past == Rational(1, 2) && is_even);
    return Value::of(down ? *below : above);
}

Value Arithmetic::table_sum(ir::TableId table, const Value& term, SourceRange where) {
    if (term.is_poison() || !spend(1, where)) return Value();
    const Scalar type = term.is_uniform() || !ir::is_real(term.type) ? compute_type_ : term.type;
    return leaf(type, ir::TableSum{table, as(term, type, where), {}}, false, where);
}

Value Arithmetic::call(Function function, const std::vector<Value>& arguments, SourceRange where, bool fast) {
    bool uniform = true;
    std::vector<const Value*> all;
    for (const Value& argument : arguments) {
        if (argument.is_poison()) return Value();
        uniform = uniform && argument.is_uniform();
        all.push_back(&argument);
    }
    const std::optional<Position> position = join(all, where);
    if (!position || !spend(1, where)) return Value();
    if (arguments.size() == 1 && arguments[0].is_number()) {
        if (std::optional<Value> folded = fold_call(function, arguments[0])) return *folded;
    }
    const bool whole = arguments[0].is_whole();
    if (whole && gives_whole(function)) return arguments[0];
    const bool stays = whole && function == Function::abs;
    const Scalar type = stays ? common_type(arguments) : real_type(arguments);
    ir::Call node{function, {}, fast && type == Scalar::f32 && !uniform};
    for (const Value& argument : arguments)
        node.arguments.push_back(as(argument, type, where));
    return marked(leaf(type, std::move(node), uniform, where, *position), stays);
}

}  // namespace halo::sema
