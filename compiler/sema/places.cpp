// Where in the cells expressions lie (position.h): found from the bottom up by the values themselves, and
// looked up beforehand in the tree where a derivative or a let has a choice.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/builtins.h"
#include "compiler/sema/evaluator.h"
#include "compiler/sema/scope.h"

namespace halo::sema {

Position Evaluator::position_at(Halves place) const {
    const auto all = static_cast<Halves>((1u << static_cast<unsigned>(symbols_.rank())) - 1u);
    return {all, place};
}

Halves Evaluator::axes_of(ir::FieldId field) const {
    Halves axes = 0;
    for (int axis = 0; axis < symbols_.rank(); ++axis)
        if (program_[field].grid.has(axis)) axes = static_cast<Halves>(axes | axis_bit(axis));
    return axes;
}

Position Evaluator::position_of(ir::FieldId field, Halves place) const {
    const Halves axes = axes_of(field);
    return {axes, static_cast<Halves>(place & axes)};
}

std::string Evaluator::names_at(Halves place, Halves axes) const {
    return position_text(place, axes, symbols_.axes());
}

// ---- the places that an expression can take
// ---------------------------------------------------------------------

// Walks the tree without building anything. An expression whose place it cannot find counts as being
// anywhere: places are preferences, and the values that are built later carry their actual positions.
struct Evaluator::PlaceFinder {
    struct Bound {  // a def's parameter or an index
        std::string_view name;
        Places places;
        std::optional<Rational> number;  // where it is known
        int axis = -1;                   // where it stands for one
    };

    explicit PlaceFinder(Evaluator& the_evaluator) : evaluator(the_evaluator) {}

    Places of(syntax::ExprId id) {
        const syntax::Expr& expr = evaluator.file_[id];
        if (depth >= kMaxDepth || !evaluator.arithmetic_.spend(1, expr.where)) return {};
        ++depth;
        const Places result = of_node(expr);
        --depth;
        return result;
    }

private:
    static constexpr int kMaxDepth = 1600;

    Places of_node(const syntax::Expr& expr) {
        if (const auto* name = std::get_if<syntax::NameUse>(&expr.node)) return of_name(name->name);
        if (const auto* access = std::get_if<syntax::Index>(&expr.node)) return of_index(*access);
        if (const auto* call = std::get_if<syntax::CallExpr>(&expr.node)) return of_call(*call);
        if (const auto* node = std::get_if<syntax::UnaryExpr>(&expr.node)) return of(node->operand);
        if (const auto* node = std::get_if<syntax::BinaryExpr>(&expr.node))
            return of(node->left).joined(of(node->right));
        if (const auto* node = std::get_if<syntax::Conditional>(&expr.node))
            return of(node->condition).joined(of(node->then)).joined(of(node->otherwise));
        if (const auto* node = std::get_if<syntax::Fold>(&expr.node)) return of_fold(*node);
        if (const auto* node = std::get_if<syntax::Member>(&expr.node)) return of_member(*node);
        if (const auto* node = std::get_if<syntax::List>(&expr.node)) {
            Places result;
            for (syntax::ExprId element : node->elements)
                result = result.joined(of(element));
            return result;
        }
        return {};
    }

    Places of_name(const std::string& name) {
        if (const Bound* parameter = find_bound(name)) return parameter->places;
        if (in_def == 0) {
            if (const Value* local = evaluator.find_local(name)) return of_value(*local);
        }
        const Symbol* symbol = evaluator.find_symbol(name);
        if (symbol == nullptr || evaluator.place_ != Place::step) return {};
        if (symbol->kind == Symbol::Kind::field) {
            const FieldLayout& layout = evaluator.layouts_[static_cast<std::size_t>(symbol->index)];
            return of_parts(layout.shape, layout.first);
        }
        if (symbol->kind == Symbol::Kind::let) {
            const auto found = evaluator.lets_.find(symbol->index);
            if (found != evaluator.lets_.end()) return of_value(found->second);
        }
        return {};
    }

    Places of_parts(const Shape& shape, std::uint32_t first) {
        Places result;
        for (const Halves place : evaluator.places_of(shape, first))
            result = result.joined(of_field({first}, place));
        return result;
    }

    // Of a field's component, where that component lies: `v.x`, `v[x+1].x`.
    Places of_member(const syntax::Member& node) {
        const syntax::Expr* base = &evaluator.file_[node.base];
        Halves half = 0;
        if (const auto* access = std::get_if<syntax::Index>(&base->node)) {
            for (syntax::ExprId subscript : access->subscripts)
                half = static_cast<Halves>(half ^ half_of(subscript));
            base = &evaluator.file_[access->base];
        }
        const auto* name = std::get_if<syntax::NameUse>(&base->node);
        const bool is_hidden =
            name == nullptr || find_bound(name->name) || (in_def == 0 && evaluator.find_local(name->name));
        const Symbol* symbol = is_hidden ? nullptr : evaluator.find_symbol(name->name);
        if (node.index || symbol == nullptr || symbol->kind != Symbol::Kind::field ||
            evaluator.place_ != Place::step)
            return of(node.base);
        const FieldLayout& layout = evaluator.layouts_[static_cast<std::size_t>(symbol->index)];
        const auto part = find_part(layout.shape, node.member.text, evaluator.symbols_.axes());
        if (!part || layout.shape.kind != Shape::Kind::vector) return of(node.base);
        const auto first = layout.first + static_cast<std::uint32_t>(layout.shape.first_leaf(*part));
        return of_field({first}, evaluator.fields_[first].stagger).flipped(half);
    }

    Places of_field(ir::FieldId field, Halves place) {
        if (evaluator.program_[field].grid.has_all_axes()) return Places::only(place);
        Places result = Places::of(evaluator.position_of(field, place), evaluator.symbols_.rank());
        result.own = place;
        return result;
    }

    Places of_value(const Value& value) {
        if (!value.has_parts()) return Places::of(value.position, evaluator.symbols_.rank());
        Places result;
        for (const Value& part : value.parts)
            result = result.joined(of_value(part));
        return result;
    }

    Places of_index(const syntax::Index& node) {
        const auto* name = std::get_if<syntax::NameUse>(&evaluator.file_[node.base].node);
        if (name != nullptr) {
            const Symbol* symbol = evaluator.find_symbol(name->name);
            if (symbol != nullptr && symbol->kind == Symbol::Kind::coef) return {};
        }
        Halves half = 0;
        for (syntax::ExprId subscript : node.subscripts)
            half = static_cast<Halves>(half ^ half_of(subscript));
        return of(node.base).flipped(half);
    }

    const Bound* find_bound(std::string_view name) const {
        for (std::size_t i = bound.size(); i > frame; --i) {
            if (bound[i - 1].name == name) return &bound[i - 1];
        }
        return nullptr;
    }

    // The axis that a name stands for.
    std::optional<int> axis_called(const std::string& name) const {
        if (const Bound* parameter = find_bound(name))
            return parameter->axis < 0 ? std::nullopt : std::optional(parameter->axis);
        if (in_def == 0) return evaluator.find_axis(name);
        const Symbol* symbol = evaluator.find_symbol(name);
        const bool is_axis = symbol != nullptr && symbol->kind == Symbol::Kind::axis;
        return is_axis ? std::optional(symbol->index) : std::nullopt;
    }

    // The axis of a subscript, where it is half a cell off: x of `x+1/2`, `x+r-1/2`.
    Halves half_of(syntax::ExprId subscript) {
        int axis = -1;
        const std::optional<Rational> rest = known(subscript, axis);
        const bool is_half =
            axis >= 0 && rest && !rest->is_integer() && (*rest - Rational(1, 2)).is_integer();
        return is_half ? axis_bit(axis) : Halves{0};
    }

    // A number, where it can be told without a message; axes count as 0 and are noted.
    std::optional<Rational> known(syntax::ExprId id, int& axis) {
        const syntax::Expr& expr = evaluator.file_[id];
        if (const auto* number = std::get_if<syntax::Number>(&expr.node)) return number->value;
        if (const auto* name = std::get_if<syntax::NameUse>(&expr.node)) return known_name(name->name, axis);
        if (const auto* sign = std::get_if<syntax::UnaryExpr>(&expr.node)) {
            const std::optional<Rational> operand = known(sign->operand, axis);
            return operand && sign->kind == syntax::UnaryKind::negate ? -*operand : operand;
        }
        const auto* node = std::get_if<syntax::BinaryExpr>(&expr.node);
        if (node == nullptr) return std::nullopt;
        const std::optional<Rational> left = known(node->left, axis), right = known(node->right, axis);
        if (!left || !right) return std::nullopt;
        switch (node->kind) {
            case syntax::BinaryKind::add:
                return *left + *right;
            case syntax::BinaryKind::subtract:
                return *left - *right;
            case syntax::BinaryKind::multiply:
                return *left * *right;
            case syntax::BinaryKind::divide:
                if (right->is_zero()) return std::nullopt;
                return *left / *right;
            default:
                return std::nullopt;
        }
    }

    std::optional<Rational> known_name(const std::string& name, int& axis) {
        if (const std::optional<int> known_axis = axis_called(name)) {
            axis = *known_axis;
            return Rational();
        }
        if (const Bound* parameter = find_bound(name)) return parameter->number;
        if (in_def == 0) {
            if (const Value* local = evaluator.find_local(name))
                return local->is_number() ? std::optional(local->number) : std::nullopt;
        }
        const Symbol* symbol = evaluator.find_symbol(name);
        if (symbol == nullptr || symbol->kind != Symbol::Kind::constant) return std::nullopt;
        const Value value = evaluator.constant(*symbol);
        return value.is_number() ? std::optional(value.number) : std::nullopt;
    }

    Places of_fold(const syntax::Fold& node) {
        const std::size_t before = bound.size();
        for (const syntax::RangeIndex& index : node.indices) {
            int axis = -1;
            bound.push_back({index.name.text, {}, known(index.low, axis), -1});
        }
        Places result = of(node.body);
        for (const syntax::ExprId term : node.terms)
            result = result.joined(of(term));
        bound.resize(before);
        return result;
    }

    Places of_all(const std::vector<syntax::Argument>& arguments, std::size_t from) {
        Places result;
        for (std::size_t i = from; i < arguments.size(); ++i) {
            if (!arguments[i].keyword) result = result.joined(of(arguments[i].value));
        }
        return result;
    }

    // The axes that are named by arguments from the second on.
    Halves axes_of(const syntax::CallExpr& call) {
        Halves axes = 0;
        for (std::size_t i = 1; i < call.arguments.size(); ++i) {
            const auto* name = std::get_if<syntax::NameUse>(&evaluator.file_[call.arguments[i].value].node);
            const std::optional<int> axis = name != nullptr ? axis_called(name->name) : std::nullopt;
            if (axis) axes = static_cast<Halves>(axes | axis_bit(*axis));
        }
        return axes;
    }

    Places of_call(const syntax::CallExpr& call) {
        const std::string& name = call.callee.text;
        const Symbol* symbol = evaluator.find_symbol(name);
        if (symbol != nullptr && symbol->kind == Symbol::Kind::function && !find_builtin(name))
            return of_def(*symbol, call);
        if (call.arguments.empty()) return {};
        if (name == "d" || name == "d2") return of(call.arguments[0].value).also_flipped(axes_of(call));
        if (name == "grad" || name == "div" || name == "curl")
            return of(call.arguments[0].value)
                .also_flipped(
                    static_cast<Halves>((1u << static_cast<unsigned>(evaluator.symbols_.rank())) - 1u));
        if (name == "interpolate") return of(call.arguments[0].value).flipped(axes_of(call));
        if (name == "upwind") {
            Places result = of(call.arguments[0].value);
            return call.arguments.size() > 2 ? result.joined(of(call.arguments[2].value)) : result;
        }
        if (name == "laplacian" || name == "biharmonic") return of(call.arguments[0].value);
        if (name == "pos" || name == "idx" || name == "len") return {};
        return of_all(call.arguments, 0);
    }

    Places of_def(const Symbol& symbol, const syntax::CallExpr& call) {
        const syntax::DefDecl& function = *symbol.function;
        if (call.arguments.size() != function.parameters.size()) return {};
        std::vector<Bound> arguments;
        for (std::size_t i = 0; i < call.arguments.size(); ++i) {
            int axis = -1;
            const syntax::ExprId argument = call.arguments[i].value;
            const auto* name = std::get_if<syntax::NameUse>(&evaluator.file_[argument].node);
            const std::optional<int> stands_for = name != nullptr ? axis_called(name->name) : std::nullopt;
            const Places places = stands_for ? Places::anywhere() : of(argument);
            arguments.push_back(
                {function.parameters[i].text, places, known(argument, axis), stands_for.value_or(-1)});
        }
        const std::size_t outer_frame = frame, outer_size = bound.size();
        bound.insert(bound.end(), arguments.begin(), arguments.end());
        frame = outer_size;
        const bool outer_shared = std::exchange(evaluator.in_shared_, symbol.is_shared);
        ++in_def;
        const Places result = of(function.value);
        --in_def;
        evaluator.in_shared_ = outer_shared;
        frame = outer_frame;
        bound.resize(outer_size);
        return result;
    }

    Evaluator& evaluator;
    std::vector<Bound> bound;  // parameters of the defs that are being traversed
    std::size_t frame = 0;
    int in_def = 0;
    int depth = 0;
};

void Evaluator::set_wanted(const std::vector<Halves>& places) {
    wanted_ = places.front();
    apart_ = places.size() > 1 ? places : std::vector<Halves>();
}

std::vector<Halves> Evaluator::places_of(const Shape& shape, std::uint32_t first) const {
    std::vector<Halves> places;
    for (std::size_t part = 0; part < shape.parts.size(); ++part)
        places.push_back(fields_[first + shape.first_leaf(part)].stagger);
    const auto is_first = [&](Halves place) { return place == places.front(); };
    if (places.empty()) return {fields_[first].stagger};
    if (std::all_of(places.begin(), places.end(), is_first)) places.resize(1);
    return places;
}

// In a stencil without staggered fields there is one place.
Places Evaluator::places(syntax::ExprId id) {
    if (!is_staggered_) return Places::only(0);
    return PlaceFinder(*this).of(id);
}

Halves Evaluator::own_place(syntax::ExprId id) {
    if (!is_staggered_) return 0;
    const Places all = places(id);
    if (all.own) return *all.own;
    if (all.is_anywhere || all.set == 0)
        return 0;  // of no field; or in conflict, which is reported where the operands meet
    report(DiagnosticKind::ambiguous_position, where(id),
           "this could be computed at several places in the cells")
        .note(fmt::format("a `let` says where, as in `let a at {}+1/2 = …`", symbols_.axes().front()));
    return 0;
}

// Evaluates an operand of an expression at `wanted_`, at the nearest place that it can take.
Value Evaluator::evaluate_at(syntax::ExprId id, Halves place) {
    const Halves outer = wanted_;
    wanted_ = is_staggered_ ? places(id).nearest(place) : Halves{0};
    Value value = evaluate(id);
    wanted_ = outer;
    return value;
}

// ---- what lies apart
// --------------------------------------------------------------------------------------------

// Reports two operands that lie at different places. The note says how to interpolate the one that is not
// where the statement is.
void Evaluator::refuse_apart(const Value& left, syntax::ExprId left_id, const Value& right,
                             syntax::ExprId right_id, SourceRange where) {
    const Halves apart = left.position.conflict(right.position);
    const bool left_is_off = ((left.position.half ^ wanted_) & apart) != 0;
    Diagnostic& diagnostic =
        report(DiagnosticKind::position_mismatch, where,
               fmt::format("the left side lies at {}, and the right side at {}",
                           names_at(left.position.half, apart), names_at(right.position.half, apart)));
    offer_interpolation(diagnostic, left_is_off ? left_id : right_id, apart);
}

// The part of a product or a sum that lies elsewhere.
syntax::ExprId Evaluator::part_elsewhere(syntax::ExprId id) {
    while (const auto* node = std::get_if<syntax::BinaryExpr>(&file_[id].node)) {
        const bool left_fits = places(node->left).contains(wanted_);
        if (left_fits == places(node->right).contains(wanted_)) break;
        id = left_fits ? node->right : node->left;
    }
    return id;
}

// The let without a place that an expression names, directly or as the argument of a def; nullptr: none.
const Symbol* Evaluator::placeless_let(syntax::ExprId id) const {
    if (const auto* access = std::get_if<syntax::Index>(&file_[id].node)) id = access->base;
    const auto* name = std::get_if<syntax::NameUse>(&file_[id].node);
    if (name == nullptr) return nullptr;
    const Symbol* symbol = nullptr;
    if (const Value* local = find_local(name->name)) {
        const auto* access = local->is_expr() ? std::get_if<ir::Access>(&program_[local->id].node) : nullptr;
        if (access != nullptr) symbol = fields_[access->field.index].symbol;
    } else {
        symbol = find_symbol(name->name);
    }
    const bool is_known = symbol != nullptr && symbol->let != nullptr && lets_.contains(symbol->index);
    return is_known && symbol->let->at.empty() ? symbol : nullptr;
}

// A let that could be had at `wanted_` if it said so, as one with a derivative in it: the one that is named,
// or one that it is made of.
const Symbol* Evaluator::let_to_move(syntax::ExprId id) {
    constexpr int kMaxLets = 64;
    const Symbol* let = placeless_let(id);
    Scope scope(*this);
    frame_ = locals_.size();  // the names that a let sees are the stencil's
    in_shared_ = false;
    for (int i = 0; let != nullptr && i < kMaxLets; ++i) {
        const Places all = places(let->let->value);
        if (!all.is_anywhere && all.contains(wanted_)) return let;
        let = placeless_let(part_elsewhere(let->let->value));
    }
    return nullptr;
}

void Evaluator::offer_interpolation(Diagnostic& diagnostic, syntax::ExprId id, Halves apart) {
    std::string along;
    for (int axis = 0; axis < symbols_.rank(); ++axis) {
        if ((apart & axis_bit(axis)) == 0) continue;
        along += (along.empty() ? "" : ", ") + symbols_.axes()[static_cast<std::size_t>(axis)];
    }
    id = part_elsewhere(id);
    if (const Symbol* let = let_to_move(id)) {
        const auto named = static_cast<Halves>(apart | wanted_);
        const std::string placed = fmt::format("{} at {}", let->name, names_at(wanted_, named));
        diagnostic
            .label(let->where,
                   fmt::format("`{}` names no place, so it is computed where its fields lie", let->name))
            .note(fmt::format("`let {} = …` computes it here, without the mean of two neighbours", placed))
            .mend(let->where, placed);
    } else if (const auto* name = std::get_if<syntax::NameUse>(&file_[id].node)) {
        diagnostic.mend(file_[id].where, fmt::format("interpolate({}, {})", name->name, along));
    } else {
        diagnostic.note(fmt::format("`interpolate(…, {})` takes it half a cell further", along));
    }
}

bool Evaluator::require_position(const Value& value, Halves place, const std::string& what,
                                 syntax::ExprId id) {
    if (!value.is_expr()) return true;
    const Halves apart = value.position.conflict(position_at(place));
    if (apart == 0) return true;
    Diagnostic& diagnostic =
        report(DiagnosticKind::position_mismatch, where(id),
               fmt::format("this lies at {}, and {} at {}", names_at(value.position.half, apart), what,
                           names_at(place, apart)));
    offer_interpolation(diagnostic, id, apart);
    return false;
}

std::optional<Halves> Evaluator::stagger(const std::vector<syntax::ExprId>& at) {
    Halves result = 0, named = 0;
    for (syntax::ExprId id : at) {
        std::vector<Anchor> anchors;
        Rational rest;
        if (!collect_subscript(id, true, anchors, rest)) return std::nullopt;
        const bool is_axis = anchors.size() == 1 && anchors[0].axis >= 0 && anchors[0].forward;
        const bool is_half = rest == Rational(1, 2);
        if (!is_axis || (!is_half && !rest.is_zero())) {
            Diagnostic& diagnostic =
                report(DiagnosticKind::invalid_position, where(id), "this is no place in a cell");
            const std::string& axis =
                symbols_.axes()[static_cast<std::size_t>(is_axis ? anchors[0].axis : 0)];
            diagnostic.note(fmt::format(
                "a place is `{0}`, at the cells' points, or `{0}+1/2`, half way to the next", axis));
            if (is_axis) diagnostic.mend(where(id), axis + "+1/2");
            return std::nullopt;
        }
        const Halves bit = axis_bit(anchors[0].axis);
        if ((named & bit) != 0) {
            report(DiagnosticKind::duplicate_setting, where(id),
                   fmt::format("the place along `{}` is given twice",
                               symbols_.axes()[static_cast<std::size_t>(anchors[0].axis)]));
            return std::nullopt;
        }
        named = static_cast<Halves>(named | bit);
        if (is_half) result = static_cast<Halves>(result | bit);
    }
    return result;
}

}  // namespace halo::sema
