// Calls of differential operators: their arguments and what they are made of. derivative.cpp writes them out.
//
//   d(u, x, order=4)              centred, or staggered where the statement lies half a cell from u
//   d(u, x, side=low)             from the cell itself and those on one side of it
//   d(u, x, x, y)                 higher and mixed
//   upwind(u, x, v, order=3)      v times the derivative of u, taken on the side that v comes from
//   laplacian(u), biharmonic(u)
//   interpolate(u, x, y)          u itself half a cell further along the axes
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/sema/evaluator.h"

namespace halo::sema {

using ir::BinaryOp;

namespace {

struct Operator {
    std::string_view name;
    std::size_t least, most;  // arguments without a name
    const char* form;
};
constexpr std::size_t kAny = 64;
constexpr std::array<Operator, 6> kOperators{{
    {"d", 2, kAny, "d(u, x)"},
    {"d2", 2, 2, "d2(u, x)"},
    {"laplacian", 1, 1, "laplacian(u)"},
    {"biharmonic", 1, 1, "biharmonic(u)"},
    {"upwind", 3, 3, "upwind(u, x, v)"},
    {"interpolate", 2, 4, "interpolate(u, x)"},
}};

const Operator* find_operator(std::string_view name) {
    const auto found = std::find_if(kOperators.begin(), kOperators.end(),
                                    [&](const Operator& entry) { return entry.name == name; });
    return found == kOperators.end() ? nullptr : &*found;
}

}  // namespace

bool Evaluator::is_differential(std::string_view name) {
    return find_operator(name) != nullptr;
}

// What is given by name. nullopt where something is reported.
std::optional<Evaluator::DifferentialOptions> Evaluator::differential_options(const syntax::CallExpr& node) {
    const bool can_have_side = node.callee.text == "d" || node.callee.text == "d2";
    const bool is_upwind = node.callee.text == "upwind";
    DifferentialOptions result;
    result.accuracy = is_upwind ? 1 : accuracy_;
    const syntax::Argument* order = nullptr;
    for (const syntax::Argument& argument : node.arguments) {
        if (!argument.keyword) continue;
        const std::string& word = argument.keyword->text;
        if (word == "order" || word == "accuracy") {
            order = &argument;
        } else if (word == "side" && can_have_side) {
            const auto* side = std::get_if<syntax::NameUse>(&file_[argument.value].node);
            if (side == nullptr || (side->name != "low" && side->name != "high")) {
                report(DiagnosticKind::unknown_argument, where(argument.value),
                       "a difference is taken on the side `low` or `high`");
                return std::nullopt;
            }
            result.side = side->name == "low" ? -1 : 1;
        } else {
            Diagnostic& diagnostic = report(DiagnosticKind::unknown_argument, argument.keyword->where,
                                            fmt::format("`{}` has no argument `{}`", node.callee.text, word));
            if (closest_name(word, {"order"})) diagnostic.mend(argument.keyword->where, "order");
            return std::nullopt;
        }
    }
    if (order == nullptr) return result;
    const bool has_pairs = !is_upwind && result.side == 0;
    const std::optional<std::int64_t> given =
        integer(order->value, "the order of accuracy", has_pairs ? 2 : 1, is_upwind ? 5 : kMaxAccuracy);
    if (!given) return std::nullopt;
    result.accuracy = *given;
    if (has_pairs && *given % 2 != 0) {
        report(DiagnosticKind::out_of_range, where(order->value),
               fmt::format("the order of accuracy of a centred difference is even, not {}", *given))
            .note("a difference on one side (`side=low`) has any order");
        return std::nullopt;
    }
    if (is_upwind && *given == 4) {
        report(DiagnosticKind::out_of_range, where(order->value),
               "upwind differences are of order 1, 2, 3 or 5");
        return std::nullopt;
    }
    return result;
}

// The axes that arguments from the second on name, with how often, in order of appearance.
std::optional<std::vector<Evaluator::AxisCount>> Evaluator::axes_of(const syntax::CallExpr& node,
                                                                    std::size_t first, std::size_t last,
                                                                    SourceRange where) {
    std::vector<AxisCount> result;
    std::size_t place = 0;
    bool valid = true;
    for (const syntax::Argument& argument : node.arguments) {
        if (argument.keyword || place++ < first || place > last) continue;
        const std::optional<int> axis = axis_argument(argument);
        if (!axis) {
            valid = false;
            continue;
        }
        auto found = std::find_if(result.begin(), result.end(),
                                  [&](const AxisCount& entry) { return entry.axis == *axis; });
        if (found == result.end()) found = result.insert(result.end(), AxisCount{*axis, 0});
        if (++found->count > kMaxDerivative) {
            report(DiagnosticKind::out_of_range, where,
                   fmt::format("a derivative along one axis is of order {} at most", kMaxDerivative));
            return std::nullopt;
        }
    }
    if (!valid) return std::nullopt;
    return result;
}

Value Evaluator::biharmonic(const Value& operand, std::int64_t accuracy, SourceRange where) {
    Value sum = Value::of(Rational(0));
    for (int axis = 0; axis < symbols_.rank(); ++axis) {
        sum = arithmetic_.binary(BinaryOp::add, sum, differentiate(operand, axis, 4, accuracy, where), where);
    }
    for (int a = 0; a < symbols_.rank(); ++a) {
        for (int b = a + 1; b < symbols_.rank(); ++b) {
            const Value inner = differentiate(operand, a, 2, accuracy, where);
            const Value mixed = differentiate(inner, b, 2, accuracy, where);
            const Value twice = arithmetic_.binary(BinaryOp::mul, Value::of(Rational(2)), mixed, where);
            sum = arithmetic_.binary(BinaryOp::add, sum, twice, where);
        }
    }
    return sum;
}

// Orders 1 and 2 read the windward side alone; 3 and 5 one and two cells of the other side, too.
Value Evaluator::upwind(const Value& operand, const Value& velocity, int axis, std::int64_t order,
                        SourceRange where) {
    if (velocity.is_poison()) return velocity;
    const int beyond = order == 3 ? 1 : order == 5 ? 2 : 0;
    const Value low = one_sided(operand, {axis, 1, order, -1, beyond}, where);
    const Value high = one_sided(operand, {axis, 1, order, 1, beyond}, where);
    const Value zero = Value::of(Rational(0));
    const Value is_up = arithmetic_.binary(BinaryOp::greater, velocity, zero, where);
    const Value slope = arithmetic_.select(is_up, low, high, where);
    return arithmetic_.binary(BinaryOp::mul, velocity, slope, where);
}

Value Evaluator::differential(const syntax::CallExpr& node, SourceRange where) {
    const std::string& name = node.callee.text;
    std::vector<syntax::ExprId> plain;
    for (const syntax::Argument& argument : node.arguments) {
        if (!argument.keyword) plain.push_back(argument.value);
    }
    const Operator& form = *find_operator(name);
    if (plain.size() < form.least || plain.size() > form.most) {
        report(DiagnosticKind::wrong_argument_count, where,
               fmt::format("`{}` is written `{}`, with `order=` if wanted", name, form.form));
        return Value();
    }
    const std::optional<DifferentialOptions> options = differential_options(node);
    const std::size_t last_axis = name == "upwind" ? 2 : kAny;
    const std::optional<std::vector<AxisCount>> axes = axes_of(node, 1, last_axis, where);
    Halves along = 0;
    if (name == "interpolate" && axes) {
        for (const AxisCount& entry : *axes)
            along = static_cast<Halves>(along | axis_bit(entry.axis));
    }
    Value result = evaluate_at(plain[0], static_cast<Halves>(wanted_ ^ along));
    const Value velocity = name == "upwind" ? number(plain[2]) : Value::of(Rational(0));
    if (!require_number(result, this->where(plain[0])) || !options || !axes) return Value();
    if (name == "laplacian") return laplacian(result, options->accuracy, where);
    if (name == "biharmonic") return biharmonic(result, options->accuracy, where);
    if (name == "upwind") return upwind(result, velocity, axes->front().axis, options->accuracy, where);
    if (name == "interpolate" && !is_staggered_) {
        report(DiagnosticKind::needless_interpolation, where,
               "nothing lies half a cell further: no field of this stencil is staggered")
            .note("`(u + u[x+1])/2` is the mean of two neighbours");
        return Value();
    }
    for (const auto& [axis, count] : *axes) {
        const int times = name == "d2" ? 2 : count;
        if (name == "interpolate") {
            result = interpolated(result, axis, options->accuracy, where);
        } else if (options->side == 0) {
            result = differentiate(result, axis, times, options->accuracy, where);
        } else {
            result = one_sided(result, {axis, times, options->accuracy, options->side, 0}, where);
        }
    }
    return result;
}

}  // namespace halo::sema
