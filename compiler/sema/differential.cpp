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
constexpr std::array<Operator, 9> kOperators{{
    {"d", 2, kAny, "d(u, x)"},
    {"d2", 2, 2, "d2(u, x)"},
    {"laplacian", 1, 1, "laplacian(u)"},
    {"biharmonic", 1, 1, "biharmonic(u)"},
    {"upwind", 3, 3, "upwind(u, x, v)"},
    {"interpolate", 2, 4, "interpolate(u, x)"},
    {"grad", 1, 1, "grad(u)"},
    {"div", 1, 1, "div(v)"},
    {"curl", 1, 1, "curl(v)"},
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

// Reads the arguments that are given by name. Returns nullopt where something is reported.
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

// Finds the axes that arguments from the second on name, with how often, in order of appearance.
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
    if (operand.has_parts())
        return map_parts(operand, [&](const Value& part) { return biharmonic(part, accuracy, where); });
    Value sum = Value::of(Rational(0));
    for (int axis = 0; axis < symbols_.rank(); ++axis) {
        sum = arithmetic_.generated(BinaryOp::add, sum, differentiate(operand, axis, 4, accuracy, where),
                                    where);
    }
    for (int a = 0; a < symbols_.rank(); ++a) {
        for (int b = a + 1; b < symbols_.rank(); ++b) {
            const Value inner = differentiate(operand, a, 2, accuracy, where);
            const Value mixed = differentiate(inner, b, 2, accuracy, where);
            const Value twice = arithmetic_.generated(BinaryOp::mul, Value::of(Rational(2)), mixed, where);
            sum = arithmetic_.generated(BinaryOp::add, sum, twice, where);
        }
    }
    return sum;
}

// Orders 1 and 2 read the windward side alone; 3 and 5 one and two cells of the other side, too.
Value Evaluator::upwind(const Value& operand, const Value& velocity, int axis, std::int64_t order,
                        SourceRange where) {
    if (velocity.is_poison()) return velocity;
    if (operand.has_parts())
        return map_parts(operand,
                         [&](const Value& part) { return upwind(part, velocity, axis, order, where); });
    const int beyond = order == 3 ? 1 : order == 5 ? 2 : 0;
    const Value low = one_sided(operand, {axis, 1, order, -1, beyond}, where);
    const Value high = one_sided(operand, {axis, 1, order, 1, beyond}, where);
    const Value zero = Value::of(Rational(0));
    const Value is_up = arithmetic_.binary(BinaryOp::greater, velocity, zero, where);
    const Value slope = arithmetic_.select(is_up, low, high, where);
    return arithmetic_.binary(BinaryOp::mul, velocity, slope, where);
}

// A vector's component along each axis: by name where its components are called like the axes, else in order.
// nullopt where it does not have one for each; that is reported.
std::optional<std::vector<Value>> Evaluator::along_axes(const Value& vector, const std::string& what,
                                                        SourceRange where) {
    const std::vector<std::string>& axes = symbols_.axes();
    if (!vector.is_vector() || vector.parts.size() != axes.size()) {
        report(DiagnosticKind::component_mismatch, where,
               fmt::format("this is {}; `{}` is of a vector with a component for each axis", describe(vector),
                           what));
        return std::nullopt;
    }
    const bool is_named =
        std::is_permutation(axes.begin(), axes.end(), vector.names.begin(), vector.names.end());
    std::vector<Value> result;
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
        result.push_back(vector.parts[is_named ? *find_part(vector, axes[axis], axes) : axis]);
    return result;
}

// Where a vector is wanted whose parts lie apart, the operand of its gradient or curl lies half a cell from
// each of them, along the axis that it is derived along there.
Value Evaluator::whole_operand(syntax::ExprId id, const std::string& name) {
    const std::vector<Halves> outer = std::exchange(apart_, {});
    Halves place = wanted_;
    const bool is_gradient = name == "grad";
    if (!outer.empty() && (is_gradient || (name == "curl" && outer.size() == 2))) {
        const auto beside = [&](std::size_t part) {
            const int axis = static_cast<int>(is_gradient ? part : 1 - part);
            return static_cast<Halves>(outer[part] ^ axis_bit(axis));
        };
        bool agree = true;
        for (std::size_t part = 1; part < outer.size(); ++part)
            agree = agree && beside(part) == beside(0);
        if (agree) place = beside(0);
    }
    Value operand = evaluate_at(id, place);
    apart_ = outer;
    return operand;
}

Value Evaluator::gradient(const Value& operand, std::int64_t accuracy, SourceRange where) {
    if (operand.is_vector()) {
        report(DiagnosticKind::component_mismatch, where,
               fmt::format("this is {}; `grad` is of a number in each cell", describe(operand)))
            .note("`d(v, x)` is the derivative of all components along one axis");
        return Value();
    }
    std::vector<Value> parts;
    const auto rank = static_cast<std::size_t>(symbols_.rank());
    for (int axis = 0; axis < symbols_.rank(); ++axis)
        parts.push_back(at_part(static_cast<std::size_t>(axis), rank,
                                [&] { return differentiate(operand, axis, 1, accuracy, where); }));
    return Value::vector_of(std::move(parts), symbols_.axes());
}

Value Evaluator::divergence(const Value& operand, std::int64_t accuracy, SourceRange where) {
    const std::optional<std::vector<Value>> parts = along_axes(operand, "div", where);
    if (!parts) return Value();
    Value sum = Value::of(Rational(0));
    for (int axis = 0; axis < symbols_.rank(); ++axis) {
        const Value term = differentiate((*parts)[static_cast<std::size_t>(axis)], axis, 1, accuracy, where);
        sum = algebra_.generated(BinaryOp::add, sum, term, where);
    }
    return sum;
}

// Three axes: a vector. Two: of a vector the component that stands upright, of a number the vector in the
// plane around it.
Value Evaluator::curl(const Value& operand, std::int64_t accuracy, SourceRange where) {
    const std::vector<std::string>& axes = symbols_.axes();
    if (axes.size() == 1) {
        report(DiagnosticKind::component_mismatch, where, "`curl` needs two or three axes");
        return Value();
    }
    if (axes.size() == 2 && !operand.is_vector()) {
        const auto along = [&](int axis) {
            return at_part(axis == 1 ? 0 : 1, 2,
                           [&] { return differentiate(operand, axis, 1, accuracy, where); });
        };
        return Value::vector_of({along(1), algebra_.negate(along(0), where)}, axes);
    }
    const std::optional<std::vector<Value>> parts = along_axes(operand, "curl", where);
    if (!parts) return Value();
    const auto about = [&](int from, int to) {
        const Value first = differentiate((*parts)[static_cast<std::size_t>(to)], from, 1, accuracy, where);
        const Value second = differentiate((*parts)[static_cast<std::size_t>(from)], to, 1, accuracy, where);
        return algebra_.generated(BinaryOp::sub, first, second, where);
    };
    if (axes.size() == 2) return about(0, 1);
    return Value::vector_of(
        {at_part(0, 3, [&] { return about(1, 2); }), at_part(1, 3, [&] { return about(2, 0); }),
         at_part(2, 3, [&] { return about(0, 1); })},
        axes);
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
    const bool changes_shape = name == "grad" || name == "div" || name == "curl";
    Value result = changes_shape ? whole_operand(plain[0], name)
                                 : evaluate_at(plain[0], static_cast<Halves>(wanted_ ^ along));
    const Value velocity = name == "upwind" ? number(plain[2]) : Value::of(Rational(0));
    if (!require_quantity(result, this->where(plain[0])) || !options || !axes) return Value();
    const SourceRange operand = this->where(plain[0]);
    derived_where_ = where;
    if (name == "grad") return gradient(result, options->accuracy, operand);
    if (name == "div") return divergence(result, options->accuracy, operand);
    if (name == "curl") return curl(result, options->accuracy, operand);
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
