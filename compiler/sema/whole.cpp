// Arithmetic on integers and on what is whole: which type it is done in.
#include "compiler/sema/whole.h"

#include <fmt/format.h>

#include <cmath>

#include "compiler/sema/arithmetic.h"

namespace halo::sema {

using ir::BinaryOp;
using ir::ExprId;
using ir::Function;
using ir::Scalar;

std::optional<Rational> floor_of(const Rational& number) {
    if (number.is_integer()) return number;
    const double near = number.to_double();
    if (!(std::abs(near) < 0x1p52)) return std::nullopt;
    Rational below = Rational::from_double(std::floor(near));
    while (below > number)
        below = below - Rational(1);  // `near` was rounded
    while (below + Rational(1) <= number)
        below = below + Rational(1);
    return below;
}

bool gives_whole(Function function) {
    return function == Function::floor || function == Function::ceil || function == Function::round ||
           function == Function::trunc;
}

namespace {

const char* end_of(Scalar type) {
    switch (type) {
        case Scalar::i32:
            return "i32, which ends at 2147483647";
        case Scalar::i64:
            return "i64, which ends at about 9.2e18";
        case Scalar::f32:
            return "f32, which ends at about 3.4e38";
        default:
            return "f64, which ends at about 1.8e308";
    }
}

bool stays_whole(BinaryOp op) {
    return op == BinaryOp::add || op == BinaryOp::sub || op == BinaryOp::mul || op == BinaryOp::min ||
           op == BinaryOp::max || op == BinaryOp::floor_div || op == BinaryOp::floor_mod;
}

bool fits_type(const Rational& number, Scalar type) {
    switch (type) {
        case Scalar::i32:
            return Rational(-2147483648) <= number && number <= Rational(2147483647);
        case Scalar::i64:
            return number.as_int64().has_value();
        case Scalar::f32:
            return !std::isinf(number.to_float());
        default:
            return !std::isinf(number.to_double());
    }
}

}  // namespace

bool Arithmetic::check_fit(const Rational& number, Scalar type, SourceRange where) {
    if (fits_type(number, type)) return true;
    sink_.report(DiagnosticKind::number_too_large, where,
                 fmt::format("a number here is too large for {}", end_of(type)));
    return false;
}

Value Arithmetic::marked(Value value, bool is_whole) const {
    value.whole = is_whole && ir::is_real(value.type);
    return value;
}

// The type in which the values meet: f64 where all are uniform. Among those that are not: the widest real
// type; the widest integer's where all that meets is whole; else the compute type.
Scalar Arithmetic::common_type(const std::vector<Value>& values) const {
    bool varies = false, all_whole = true, any_integer = false;
    for (const Value& value : values) {
        all_whole = all_whole && value.is_whole();
        varies = varies || !value.is_uniform();
        any_integer = any_integer || (!value.is_uniform() && ir::is_integer(value.type));
    }
    if (!varies) return Scalar::f64;
    return all_whole && any_integer ? whole_type(values) : real_type(values);
}

Scalar Arithmetic::real_type(const std::vector<Value>& values) const {
    bool varies = false, any_f32 = false;
    for (const Value& value : values) {
        if (value.is_uniform()) continue;
        if (value.type == Scalar::f64) return Scalar::f64;
        varies = true;
        any_f32 = any_f32 || value.type == Scalar::f32;
    }
    return !varies ? Scalar::f64 : any_f32 ? Scalar::f32 : compute_type_;
}

Scalar Arithmetic::whole_type(const std::vector<Value>& values) const {
    for (const Value& value : values) {
        if (!value.is_uniform() && value.type == Scalar::i64) return Scalar::i64;
    }
    return Scalar::i32;
}

// Whether an expression of params, numbers and `len`, in f64, has whole values alone.
bool Arithmetic::is_whole(ExprId id) {
    const auto known = is_whole_.find(id.index);
    if (known != is_whole_.end()) return known->second;
    const ir::Expr& expr = program_[id];
    bool whole = false;
    if (const auto* constant = std::get_if<ir::Constant>(&expr.node)) {
        whole = constant->value.is_integer();
    } else if (const auto* param = std::get_if<ir::ParamRef>(&expr.node)) {
        whole = program_[param->param].is_integer();
    } else if (std::holds_alternative<ir::Coordinate>(expr.node)) {
        whole = true;  // len and step
    } else if (const auto* unary = std::get_if<ir::Unary>(&expr.node)) {
        whole = unary->op == ir::UnaryOp::negate && is_whole(unary->operand);
    } else if (const auto* binary = std::get_if<ir::Binary>(&expr.node)) {
        whole = stays_whole(binary->op) && is_whole(binary->left) && is_whole(binary->right);
    } else if (const auto* call = std::get_if<ir::Call>(&expr.node)) {
        whole =
            gives_whole(call->function) || (call->function == Function::abs && is_whole(call->arguments[0]));
    }
    return is_whole_[id.index] = whole;
}

// Finds the quotient in floor(a / b) of whole numbers: `div(a, b)`.
const ir::Binary* Arithmetic::floored_quotient(const ir::Expr& expr) {
    const auto* call = std::get_if<ir::Call>(&expr.node);
    if (!call || call->function != Function::floor) return nullptr;
    const auto* quotient = std::get_if<ir::Binary>(&program_[call->arguments[0]].node);
    const bool is_div =
        quotient && quotient->op == BinaryOp::div && is_whole(quotient->left) && is_whole(quotient->right);
    return is_div ? quotient : nullptr;
}

// Finds the quotient in a - b * floor(a / b) of whole numbers: `mod(a, b)`.
const ir::Binary* Arithmetic::remainder(const ir::Binary& node) {
    if (node.op != BinaryOp::sub) return nullptr;
    const auto* product = std::get_if<ir::Binary>(&program_[node.right].node);
    if (!product || product->op != BinaryOp::mul) return nullptr;
    const ir::Binary* quotient = floored_quotient(program_[product->right]);
    const bool is_mod = quotient && quotient->left == node.left && quotient->right == product->left;
    return is_mod ? quotient : nullptr;
}

// Writes the same expression in an integer's arithmetic: what is whole is so in all its parts.
ExprId Arithmetic::in_integers(ExprId id, Scalar type, SourceRange where) {
    const auto known = in_integers_.find({id.index, type});
    if (known != in_integers_.end()) return known->second;
    const ExprId made = make_in_integers(id, type, where);
    return in_integers_[{id.index, type}] = made;
}

ExprId Arithmetic::make_in_integers(ExprId id, Scalar type, SourceRange where) {
    const ir::Expr expr = program_[id];
    if (const auto* constant = std::get_if<ir::Constant>(&expr.node)) {
        check_fit(constant->value, type, where);
        return add(type, *constant, where);
    }
    if (std::holds_alternative<ir::Coordinate>(expr.node) && !is_uniform_[id.index])
        return add(type, expr.node, where);
    const auto* unary = std::get_if<ir::Unary>(&expr.node);
    if (unary && unary->op == ir::UnaryOp::convert) {
        const ir::Expr& operand = program_[unary->operand];
        return operand.type == type ? unary->operand : in_integers(unary->operand, type, where);
    }
    const auto convert = [&] { return add(type, ir::Unary{ir::UnaryOp::convert, id}, where); };
    if (ir::is_integer(expr.type)) return convert();
    const auto inner = [&](ExprId operand) { return in_integers(operand, type, where); };
    if (unary) return add(type, ir::Unary{unary->op, inner(unary->operand)}, where);
    if (const auto* binary = std::get_if<ir::Binary>(&expr.node); binary && stays_whole(binary->op)) {
        const ExprId left = inner(binary->left);
        if (const ir::Binary* quotient = is_uniform_[id.index] ? remainder(*binary) : nullptr)
            return add(type, ir::Binary{BinaryOp::floor_mod, left, inner(quotient->right)}, where);
        return add(type, ir::Binary{binary->op, left, inner(binary->right)}, where);
    }
    if (const auto* select = std::get_if<ir::Select>(&expr.node)) {
        const ExprId then = inner(select->then);
        return add(type, ir::Select{select->condition, then, inner(select->otherwise)}, where);
    }
    if (const auto* call = std::get_if<ir::Call>(&expr.node); call && call->function == Function::abs)
        return add(type, ir::Call{Function::abs, {inner(call->arguments[0])}}, where);
    if (const ir::Binary* found = is_uniform_[id.index] ? floored_quotient(expr) : nullptr) {
        const ir::Binary quotient = *found;  // the program grows, and its expressions move
        const ExprId left = inner(quotient.left);
        return add(type, ir::Binary{BinaryOp::floor_div, left, inner(quotient.right)}, where);
    }
    return convert();
}

Value Arithmetic::floor_div(const Value& left, const Value& right, SourceRange where) {
    if (left.is_poison() || right.is_poison()) return Value();
    const bool uniform = left.is_uniform() && right.is_uniform();
    const bool by_zero = right.is_number() && right.number.is_zero();
    if (uniform || by_zero || !left.is_whole() || !right.is_whole()) {
        Value quotient = binary(BinaryOp::div, left, right, where);
        if (quotient.is_poison()) return quotient;
        return marked(call(Function::floor, {quotient}, where), left.is_whole() && right.is_whole());
    }
    const std::optional<Position> position = join({&left, &right}, where);
    if (!position) return Value();
    const Scalar type = whole_type({left, right});
    const ExprId a = as(left, type, where), b = as(right, type, where);
    return leaf(type, ir::Binary{BinaryOp::floor_div, a, b}, false, where, *position);
}

Value Arithmetic::floor_mod(const Value& left, const Value& right, SourceRange where) {
    if (left.is_poison() || right.is_poison()) return Value();
    const bool uniform = left.is_uniform() && right.is_uniform();
    const bool by_zero = right.is_number() && right.number.is_zero();
    if (uniform || by_zero || !left.is_whole() || !right.is_whole()) {
        const Value quotient = floor_div(left, right, where);
        return binary(BinaryOp::sub, left, binary(BinaryOp::mul, right, quotient, where), where);
    }
    const std::optional<Position> position = join({&left, &right}, where);
    if (!position) return Value();
    const Scalar type = whole_type({left, right});
    const ExprId a = as(left, type, where), b = as(right, type, where);
    return leaf(type, ir::Binary{BinaryOp::floor_mod, a, b}, false, where, *position);
}

}  // namespace halo::sema
