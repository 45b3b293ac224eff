// Derivatives by centred differences with exact weights (ir/finite_difference.h). Offsets come in pairs, as
// in a textbook: it takes half the multiplications, and odd derivatives lose fewer digits.
//
//   d(u, x)        sum over r = 1, 2, … of (w[r] / spacing) * (u[x+r] - u[x-r])
//   d2(u, x)       (w[0] / spacing^2) * u, then for r = 1, 2, … + (w[r] / spacing^2) * (u[x-r] + u[x+r])
//   d(u, x, y)     d(d(u, x), y); an axis that is named n times is derived n times at once
//   laplacian(u)   (the centre weights of all axes, summed) * u, then the pairs of each axis in declaration
//   order
//
// Terms are added from left to right. The operand is any expression: it is taken at the neighbour, its
// boundary with it. Where the spacing is constant the quotient is exact and rounds once; else it is uniform
// and computed in f64 on the host.
#include <fmt/format.h>

#include <algorithm>
#include <map>

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

// Kept, for most programs take the same few derivatives everywhere.
const std::vector<ir::Tap>& Evaluator::difference(int derivative, std::int64_t accuracy) {
    std::vector<ir::Tap>& taps = differences_[{derivative, accuracy}];
    if (taps.empty()) taps = ir::centred_difference(derivative, static_cast<int>(accuracy));
    return taps;
}

// sum + the pairs of one axis, r ascending; `taps` are symmetric about the centre.
Value Evaluator::add_pairs(std::optional<Value> sum, const std::vector<ir::Tap>& taps, const Value& operand,
                           int axis, int derivative, SourceRange where) {
    const Value width = spacing_power(axis, derivative, where);
    const bool is_odd = derivative % 2 == 1;
    for (const ir::Tap& tap : taps) {
        if (tap.offset <= 0) continue;
        const Value below = shifted(operand, axis, -tap.offset, where);
        const Value above = shifted(operand, axis, tap.offset, where);
        const Value pair = is_odd ? arithmetic_.binary(BinaryOp::sub, above, below, where)
                                  : arithmetic_.binary(BinaryOp::add, below, above, where);
        const Value weight = arithmetic_.binary(BinaryOp::div, Value::of(tap.weight), width, where);
        if (sum && weight.is_number() && weight.number == Rational(-1)) {
            sum = arithmetic_.binary(BinaryOp::sub, *sum, pair, where);
        } else {
            const Value term = arithmetic_.binary(BinaryOp::mul, weight, pair, where);
            sum = sum ? arithmetic_.binary(BinaryOp::add, *sum, term, where) : term;
        }
        if (sum->is_poison()) return Value();
    }
    return *sum;
}

// The weight of the cell itself.
Value Evaluator::centre_weight(const std::vector<ir::Tap>& taps, int axis, int derivative,
                               SourceRange where) {
    for (const ir::Tap& tap : taps) {
        if (tap.offset != 0) continue;
        const Value width = spacing_power(axis, derivative, where);
        return arithmetic_.binary(BinaryOp::div, Value::of(tap.weight), width, where);
    }
    return Value::of(Rational(0));
}

Value Evaluator::differentiate(const Value& operand, int axis, int derivative, std::int64_t accuracy,
                               SourceRange where) {
    if (operand.is_poison()) return operand;
    if (operand.is_uniform()) return Value::of(Rational(0));
    const std::vector<ir::Tap>& taps = difference(derivative, accuracy);
    std::optional<Value> sum;
    if (derivative % 2 == 0) {
        sum = arithmetic_.binary(BinaryOp::mul, centre_weight(taps, axis, derivative, where), operand, where);
    }
    return add_pairs(sum, taps, operand, axis, derivative, where);
}

Value Evaluator::laplacian(const Value& operand, std::int64_t accuracy, SourceRange where) {
    if (operand.is_poison()) return operand;
    if (operand.is_uniform()) return Value::of(Rational(0));
    const std::vector<ir::Tap>& taps = difference(2, accuracy);
    Value centre = Value::of(Rational(0));
    for (int axis = 0; axis < symbols_.rank(); ++axis) {
        centre = arithmetic_.binary(BinaryOp::add, centre, centre_weight(taps, axis, 2, where), where);
    }
    Value sum = arithmetic_.binary(BinaryOp::mul, centre, operand, where);
    for (int axis = 0; axis < symbols_.rank() && !sum.is_poison(); ++axis) {
        sum = add_pairs(sum, taps, operand, axis, 2, where);
    }
    return sum;
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
