// Derivatives by centred differences with exact weights (ir/finite_difference.h).
//
//   d(u, x)        sum over offsets o in ascending order of (w[o] / spacing^n) * u[x+o]
//   d(u, x, y)     d(d(u, x), y); an axis that is named n times is derived n times at once
//   laplacian(u)   (the centre weights of all axes, summed) * u, then axis by axis the other offsets in
//   ascending order
//
// The operand is any expression: it is taken at the neighbour, its boundary with it. Where the spacing is
// constant the quotient is exact and rounds once; else it is uniform and computed in f64 on the host.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/ir/finite_difference.h"
#include "compiler/sema/evaluator.h"

namespace halo::sema {

using ir::BinaryOp;

std::optional<std::int64_t> Evaluator::accuracy_of(const syntax::CallExpr& node) {
    std::optional<std::int64_t> result = accuracy_;
    for (const syntax::Argument& argument : node.arguments) {
        if (!argument.keyword) continue;
        if (argument.keyword->text != "order" && argument.keyword->text != "accuracy") {
            Diagnostic& diagnostic =
                report(DiagnosticKind::unknown_argument, argument.keyword->where,
                       fmt::format("`{}` has no argument `{}`", node.callee.text, argument.keyword->text));
            if (closest_name(argument.keyword->text, {"order"}))
                diagnostic.mend(argument.keyword->where, "order");
            return std::nullopt;
        }
        result = integer(argument.value, "the order of accuracy", 2, kMaxAccuracy);
        if (!result) return std::nullopt;
        if (*result % 2 == 0) continue;
        report(DiagnosticKind::out_of_range, where(argument.value),
               fmt::format("the order of accuracy of a centred difference is even, not {}", *result));
        return std::nullopt;
    }
    return result;
}

Value Evaluator::spacing_power(int axis, int exponent, SourceRange where) {
    return arithmetic_.power(spacing_[axis], Value::of(Rational(exponent)), where);
}

Value Evaluator::shifted(const Value& operand, int axis, int distance, SourceRange where) {
    ir::Offset offset{};
    offset[axis] = distance;
    return arithmetic_.shift(operand, offset, where, [this](const ir::Access& access, SourceRange range) {
        return accept(access, range);
    });
}

namespace {

// result + weight * value, subtracting where the weight is -1.
Value add_term(Arithmetic& arithmetic, const std::optional<Value>& sum, const Value& weight,
               const Value& value, SourceRange where) {
    const bool is_minus_one = weight.is_number() && weight.number == Rational(-1);
    if (sum && is_minus_one) return arithmetic.binary(BinaryOp::sub, *sum, value, where);
    const Value term = arithmetic.binary(BinaryOp::mul, weight, value, where);
    return sum ? arithmetic.binary(BinaryOp::add, *sum, term, where) : term;
}

}  // namespace

Value Evaluator::differentiate(const Value& operand, int axis, int derivative, std::int64_t accuracy,
                               SourceRange where) {
    if (operand.is_poison()) return operand;
    if (operand.is_uniform()) return Value::of(Rational(0));
    const Value width = spacing_power(axis, derivative, where);
    std::optional<Value> sum;
    for (const ir::Tap& tap : ir::centred_difference(derivative, static_cast<int>(accuracy))) {
        const Value weight = arithmetic_.binary(BinaryOp::div, Value::of(tap.weight), width, where);
        const Value value = shifted(operand, axis, tap.offset, where);
        sum = add_term(arithmetic_, sum, weight, value, where);
        if (sum->is_poison()) return *sum;
    }
    return *sum;
}

Value Evaluator::laplacian(const Value& operand, std::int64_t accuracy, SourceRange where) {
    if (operand.is_poison()) return operand;
    if (operand.is_uniform()) return Value::of(Rational(0));
    const std::vector<ir::Tap> taps = ir::centred_difference(2, static_cast<int>(accuracy));
    Value centre = Value::of(Rational(0));
    for (int axis = 0; axis < symbols_.rank(); ++axis) {
        for (const ir::Tap& tap : taps) {
            if (tap.offset != 0) continue;
            const Value width = spacing_power(axis, 2, where);
            const Value weight = arithmetic_.binary(BinaryOp::div, Value::of(tap.weight), width, where);
            centre = arithmetic_.binary(BinaryOp::add, centre, weight, where);
        }
    }
    std::optional<Value> sum = arithmetic_.binary(BinaryOp::mul, centre, operand, where);
    for (int axis = 0; axis < symbols_.rank(); ++axis) {
        const Value width = spacing_power(axis, 2, where);
        for (const ir::Tap& tap : taps) {
            if (tap.offset == 0) continue;
            const Value weight = arithmetic_.binary(BinaryOp::div, Value::of(tap.weight), width, where);
            sum = add_term(arithmetic_, sum, weight, shifted(operand, axis, tap.offset, where), where);
            if (sum->is_poison()) return *sum;
        }
    }
    return *sum;
}

Value Evaluator::differential(const syntax::CallExpr& node, SourceRange where) {
    const std::string& name = node.callee.text;
    std::vector<const syntax::Argument*> plain;
    for (const syntax::Argument& argument : node.arguments) {
        if (!argument.keyword) plain.push_back(&argument);
    }
    const bool counts = name == "laplacian" ? plain.size() == 1
                        : name == "d2"      ? plain.size() == 2
                                            : plain.size() >= 2;
    if (!counts) {
        const char* form = name == "laplacian" ? "laplacian(u)" : name == "d2" ? "d2(u, x)" : "d(u, x)";
        report(DiagnosticKind::wrong_argument_count, where,
               fmt::format("`{}` is written `{}`, with `order=` if wanted", name, form));
        return Value();
    }
    const std::optional<std::int64_t> accuracy = accuracy_of(node);
    std::map<int, int> times;
    std::vector<int> order;  // of first appearance
    bool valid = accuracy.has_value();
    for (std::size_t i = 1; i < plain.size(); ++i) {
        const std::optional<int> axis = axis_argument(*plain[i]);
        if (!axis) {
            valid = false;
            continue;
        }
        if (times[*axis]++ == 0) order.push_back(*axis);
        if (times[*axis] > kMaxDerivative) {
            report(DiagnosticKind::out_of_range, where,
                   fmt::format("a derivative along one axis is of order {} at most", kMaxDerivative));
            return Value();
        }
    }
    Value result = number(plain[0]->value);
    if (!valid) return Value();
    if (name == "laplacian") return laplacian(result, *accuracy, where);
    for (int axis : order) {
        result = differentiate(result, axis, name == "d2" ? 2 : times[axis], *accuracy, where);
    }
    return result;
}

}  // namespace halo::sema
