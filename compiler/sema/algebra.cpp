#include "compiler/sema/algebra.h"

#include <fmt/format.h>

#include <cmath>

#include "compiler/ir/row_arithmetic.h"
#include "compiler/sema/shape.h"

namespace halo::sema {

using ir::BinaryOp;
using ir::Function;

namespace {

Value real_part(const Value& value) {
    return value.is_complex() ? value.parts[0] : value;
}
Value imaginary_part(const Value& value) {
    return value.is_complex() ? value.parts[1] : Value::of(Rational(0));
}

bool is_zero(const Value& value) {
    return value.is_number() && value.number.is_zero();
}

bool agree(const Value& left, const Value& right) {
    if (left.is_vector() != right.is_vector() || left.parts.size() != right.parts.size()) return false;
    return left.names.empty() || right.names.empty() || left.names == right.names;
}

}  // namespace

Value Algebra::mismatch(const Value& left, const Value& right, SourceRange where, const char* expected) {
    sink_
        .report(DiagnosticKind::component_mismatch, where,
                fmt::format("{} and {} do not go together here", describe(left), describe(right)))
        .note(expected);
    return Value();
}

Value Algebra::binary(BinaryOp op, const Value& left, const Value& right, SourceRange where) {
    if (left.is_poison() || right.is_poison()) return Value();
    if (!left.has_parts() && !right.has_parts()) return arithmetic_.binary(op, left, right, where);
    if (ir::is_comparison(op) || op == BinaryOp::min || op == BinaryOp::max) {
        return mismatch(left, right, where,
                        "numbers are compared; `norm(v)`, `abs(z)` or a component is one");
    }
    if (!left.is_vector() && !right.is_vector()) return complex_binary(op, left, right, where);
    if (op == BinaryOp::mul) {
        if (!right.is_vector()) return scale(op, left, right, false, where);
        if (!left.is_vector()) return scale(op, right, left, true, where);
        return mismatch(left, right, where,
                        "the scalar product is `dot(a, b)`, the vector product `cross(a, b)`");
    }
    if (op == BinaryOp::div) {
        if (!right.is_vector()) return scale(op, left, right, false, where);
        return mismatch(left, right, where, "a vector can be divided by a number, and nothing by a vector");
    }
    if (!agree(left, right)) {
        return mismatch(left, right, where, "vectors of the same components are added and subtracted");
    }
    return combine(op, left, right, where);
}

Value Algebra::generated(BinaryOp op, const Value& left, const Value& right, SourceRange where) {
    if (left.has_parts() || right.has_parts()) return binary(op, left, right, where);
    return arithmetic_.generated(op, left, right, where);
}

// Combines the components of both operands one by one.
Value Algebra::combine(BinaryOp op, const Value& left, const Value& right, SourceRange where) {
    std::vector<Value> parts;
    for (std::size_t i = 0; i < left.parts.size(); ++i)
        parts.push_back(binary(op, left.parts[i], right.parts[i], where));
    return Value::vector_of(std::move(parts), left.names.empty() ? right.names : left.names);
}

Value Algebra::scale(BinaryOp op, const Value& vector, const Value& factor, bool is_left, SourceRange where) {
    return map_parts(vector, [&](const Value& part) {
        return is_left ? binary(op, factor, part, where) : binary(op, part, factor, where);
    });
}

Value Algebra::complex_binary(BinaryOp op, const Value& left, const Value& right, SourceRange where) {
    if (op == BinaryOp::add || op == BinaryOp::sub) {
        return Value::complex_of(
            arithmetic_.generated(op, real_part(left), real_part(right), where),
            is_zero(imaginary_part(left)) && op == BinaryOp::sub
                ? arithmetic_.negate(imaginary_part(right), where)
                : arithmetic_.generated(op, imaginary_part(left), imaginary_part(right), where));
    }
    if (op == BinaryOp::mul) return complex_product(left, right, where);
    return complex_quotient(left, right, where);
}

Value Algebra::complex_product(const Value& left, const Value& right, SourceRange where) {
    if (!left.is_complex() || !right.is_complex()) {
        // A zero that the user wrote stays; a zero part of a complex number drops out.
        return map_parts(left.is_complex() ? left : right, [&](const Value& part) {
            if (is_zero(part)) return part;
            return left.is_complex() ? binary(BinaryOp::mul, part, right, where)
                                     : binary(BinaryOp::mul, left, part, where);
        });
    }
    const auto multiply = [&](const Value& a, const Value& b) {
        return arithmetic_.generated(BinaryOp::mul, a, b, where);
    };
    const Value square = multiply(left.parts[1], right.parts[1]);
    const Value real = multiply(left.parts[0], right.parts[0]);
    return Value::complex_of(is_zero(real) ? arithmetic_.negate(square, where)
                                           : arithmetic_.generated(BinaryOp::sub, real, square, where),
                             arithmetic_.generated(BinaryOp::add, multiply(left.parts[0], right.parts[1]),
                                                   multiply(left.parts[1], right.parts[0]), where));
}

Value Algebra::complex_quotient(const Value& left, const Value& right, SourceRange where) {
    const auto divide = [&](const Value& a, const Value& b) {
        return arithmetic_.binary(BinaryOp::div, a, b, where);
    };
    if (!right.is_complex())
        return Value::complex_of(divide(left.parts[0], right), divide(left.parts[1], right));
    const Value product = binary(BinaryOp::mul, left, conjugate(right, where), where);
    const Value square = norm_squared(right, where);
    if (product.is_poison() || square.is_poison()) return Value();
    return Value::complex_of(divide(product.parts[0], square), divide(product.parts[1], square));
}

Value Algebra::negate(const Value& operand, SourceRange where) {
    if (!operand.has_parts()) return arithmetic_.negate(operand, where);
    return map_parts(operand, [&](const Value& part) { return negate(part, where); });
}

Value Algebra::complex_power(const Value& base, int exponent, SourceRange where) {
    if (exponent < 0) {
        const Value positive = complex_power(base, -exponent, where);
        return positive.is_poison() ? positive : complex_quotient(Value::of(Rational(1)), positive, where);
    }
    if (exponent == 0) return arithmetic_.power(norm_squared(base, where), Value::of(Rational(0)), where);
    if (exponent == 1) return base;
    const Value half = complex_power(base, exponent / 2, where);
    const Value square = binary(BinaryOp::mul, half, half, where);
    return exponent % 2 == 0 ? square : binary(BinaryOp::mul, square, base, where);
}

Value Algebra::power(const Value& base, const Value& exponent, SourceRange where) {
    if (base.is_poison() || exponent.is_poison()) return Value();
    if (!base.has_parts() && !exponent.has_parts()) return arithmetic_.power(base, exponent, where);
    const std::optional<std::int64_t> whole =
        exponent.is_number() ? exponent.number.as_int64() : std::nullopt;
    if (base.is_complex() && whole && std::abs(*whole) <= kMaxExpandedPower)
        return complex_power(base, static_cast<int>(*whole), where);
    return mismatch(base, exponent, where,
                    base.is_vector() ? "`dot(v, v)` is the square of a vector's length"
                                     : "a complex number has powers of whole numbers, 16 at most");
}

Value Algebra::select(const Value& condition, const Value& then, const Value& otherwise, SourceRange where) {
    if (condition.is_poison() || then.is_poison() || otherwise.is_poison()) return Value();
    if (!then.has_parts() && !otherwise.has_parts())
        return arithmetic_.select(condition, then, otherwise, where);
    if (!then.is_vector() && !otherwise.is_vector()) {
        return Value::complex_of(
            arithmetic_.select(condition, real_part(then), real_part(otherwise), where),
            arithmetic_.select(condition, imaginary_part(then), imaginary_part(otherwise), where));
    }
    if (!agree(then, otherwise))
        return mismatch(then, otherwise, where, "both branches of an `if` have the same components");
    std::vector<Value> parts;
    for (std::size_t i = 0; i < then.parts.size(); ++i)
        parts.push_back(select(condition, then.parts[i], otherwise.parts[i], where));
    return Value::vector_of(std::move(parts), then.names.empty() ? otherwise.names : then.names);
}

Value Algebra::shift(const Value& value, const ir::Offset& offset, SourceRange where,
                     const Arithmetic::Accept& accept) {
    if (!value.has_parts()) return arithmetic_.shift(value, offset, where, accept);
    return map_parts(value, [&](const Value& part) { return shift(part, offset, where, accept); });
}

// ---- functions

Value Algebra::dot(const Value& left, const Value& right, SourceRange where) {
    if (left.is_poison() || right.is_poison()) return Value();
    if (!left.is_vector() || !agree(left, right))
        return mismatch(left, right, where, "`dot(a, b)` is of two vectors with the same components");
    Value sum = Value::of(Rational(0));
    for (std::size_t i = 0; i < left.parts.size(); ++i) {
        sum =
            generated(BinaryOp::add, sum, binary(BinaryOp::mul, left.parts[i], right.parts[i], where), where);
    }
    return sum;
}

Value Algebra::cross(const Value& left, const Value& right, SourceRange where) {
    if (left.is_poison() || right.is_poison()) return Value();
    const std::size_t count = left.parts.size();
    if (!left.is_vector() || !agree(left, right) || (count != 2 && count != 3)) {
        return mismatch(left, right, where,
                        "`cross(a, b)` is of two vectors of 3 components, or of 2, then it is a number");
    }
    const auto component = [&](std::size_t i, std::size_t k) {
        return binary(BinaryOp::sub, binary(BinaryOp::mul, left.parts[i], right.parts[k], where),
                      binary(BinaryOp::mul, left.parts[k], right.parts[i], where), where);
    };
    if (count == 2) return component(0, 1);
    return Value::vector_of({component(1, 2), component(2, 0), component(0, 1)},
                            left.names.empty() ? right.names : left.names);
}

Value Algebra::norm_squared(const Value& value, SourceRange where) {
    if (!value.has_parts()) return binary(BinaryOp::mul, value, value, where);
    Value sum = Value::of(Rational(0));
    for (const Value& part : value.parts)
        sum = generated(BinaryOp::add, sum, norm_squared(part, where), where);
    return sum;
}

Value Algebra::norm(const Value& value, SourceRange where) {
    if (!value.has_parts()) return arithmetic_.call(Function::abs, {value}, where);
    return arithmetic_.call(Function::sqrt, {norm_squared(value, where)}, where);
}

Value Algebra::conjugate(const Value& value, SourceRange where) {
    if (value.is_vector()) return map_parts(value, [&](const Value& part) { return conjugate(part, where); });
    if (!value.is_complex()) return value;
    return Value::complex_of(value.parts[0], arithmetic_.negate(value.parts[1], where));
}

Value Algebra::argument(const Value& value, SourceRange where) {
    if (value.is_poison()) return value;
    return arithmetic_.call(Function::atan2, {imaginary_part(value), real_part(value)}, where);
}

// exp(a) * (cos(b) + i sin(b))
Value Algebra::exponential(const Value& value, SourceRange where) {
    if (!value.is_complex()) return arithmetic_.call(Function::exp, {value}, where);
    const Value phase = Value::complex_of(arithmetic_.call(Function::cos, {value.parts[1]}, where),
                                          arithmetic_.call(Function::sin, {value.parts[1]}, where));
    if (phase.is_poison() || is_zero(value.parts[0])) return phase;
    return binary(BinaryOp::mul, arithmetic_.call(Function::exp, {value.parts[0]}, where), phase, where);
}

}  // namespace halo::sema
