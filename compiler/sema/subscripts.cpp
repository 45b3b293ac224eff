// What stands in brackets: offsets, places half a cell away, and the time.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/evaluator.h"

namespace halo::sema {

void Evaluator::report_unknown_subscript(const std::string& name, SourceRange where) {
    if (symbols_.is_unread(name) || !unknown_.emplace(name).second) return;
    const std::vector<std::string>& axes = symbols_.axes();
    Diagnostic& diagnostic =
        report(DiagnosticKind::unknown_name, where, fmt::format("there is no axis or number `{}`", name))
            .note(fmt::format("offsets name their axis: {}", fmt::join(axes, ", ")));
    // i, j, k are what many write for the first, second and third axis.
    const std::size_t place =
        name.size() == 1 && name[0] >= 'i' ? static_cast<std::size_t>(name[0] - 'i') : 9;
    if (place < axes.size()) {
        diagnostic.mend(where, axes[place]);
    } else if (std::optional<std::string> likely = closest_name(name, axes)) {
        diagnostic.mend(where, *likely);
    }
}

// The name of an axis that is an operand, as in `2*x`.
std::optional<std::string> Evaluator::axis_within(syntax::ExprId id) const {
    const auto& node = file_[id].node;
    if (const auto* name = std::get_if<syntax::NameUse>(&node))
        return find_axis(name->name) ? std::optional(name->name) : std::nullopt;
    if (const auto* sign = std::get_if<syntax::UnaryExpr>(&node)) return axis_within(sign->operand);
    const auto* operation = std::get_if<syntax::BinaryExpr>(&node);
    if (operation == nullptr) return std::nullopt;
    const std::optional<std::string> left = axis_within(operation->left);
    return left ? left : axis_within(operation->right);
}

// Splits `x+r-1` into the axes it names and the number that is left. False where something is reported.
bool Evaluator::collect_subscript(syntax::ExprId id, bool forward, std::vector<Anchor>& anchors,
                                  Rational& rest) {
    const syntax::Expr& expr = file_[id];
    if (const auto* node = std::get_if<syntax::BinaryExpr>(&expr.node)) {
        const bool is_sum =
            node->kind == syntax::BinaryKind::add || node->kind == syntax::BinaryKind::subtract;
        if (is_sum) {
            const bool right = node->kind == syntax::BinaryKind::add ? forward : !forward;
            return collect_subscript(node->left, forward, anchors, rest) &&
                   collect_subscript(node->right, right, anchors, rest);
        }
    } else if (const auto* sign = std::get_if<syntax::UnaryExpr>(&expr.node)) {
        if (sign->kind == syntax::UnaryKind::plus)
            return collect_subscript(sign->operand, forward, anchors, rest);
        if (sign->kind == syntax::UnaryKind::negate)
            return collect_subscript(sign->operand, !forward, anchors, rest);
    } else if (const auto* use = std::get_if<syntax::NameUse>(&expr.node); use && find_axis(use->name)) {
        anchors.push_back({*find_axis(use->name), forward, expr.where});
        return true;
    } else if (const auto* name = std::get_if<syntax::NameUse>(&expr.node); name && !find_local(name->name)) {
        const Symbol* symbol = find_symbol(name->name);
        const auto level = std::ranges::find(iterates_, name->name, &Iterates::name);
        if (level != iterates_.end()) {
            anchors.push_back({-2, forward, expr.where, *level});
            return true;
        }
        if (name->name == "t") {
            anchors.push_back({-1, forward, expr.where});
            return true;
        }
        const bool is_known = name->name == "step" || name->name == "time" || name->name == "pi";
        if (!symbol && !is_known) {
            report_unknown_subscript(name->name, expr.where);
            return false;
        }
    }
    if (const std::optional<std::string> axis = axis_within(id)) {
        report(DiagnosticKind::invalid_offset, expr.where,
               fmt::format("an offset is added to `{}`, and this computes with it", *axis))
            .note(fmt::format("an offset is `{0}`, `{0}+1`, `{0}-2` …: the same distance for every cell",
                              *axis));
        return false;
    }
    const std::optional<Rational> value = rational(id, "an offset");
    if (!value) return false;
    rest = forward ? rest + *value : rest - *value;
    return true;
}

void Evaluator::report_unnamed_offset(const syntax::Index& node, const syntax::Expr& expr,
                                      syntax::ExprId subscript, const std::string& base) {
    Diagnostic& diagnostic =
        report(DiagnosticKind::invalid_offset, where(subscript), "an offset names its axis")
            .note(fmt::format("write `{0}[{1}+1]` for the next cell along `{1}`", base,
                              symbols_.axes().empty() ? "x" : symbols_.axes()[0]));
    // One number for each axis, as arrays are indexed elsewhere: the meaning is clear.
    if (node.subscripts.size() != symbols_.axes().size()) return;
    ir::Offset offset{};
    for (std::size_t axis = 0; axis < node.subscripts.size(); ++axis) {
        const syntax::Expr* element = &file_[node.subscripts[axis]];
        bool negative = false;
        if (const auto* sign = std::get_if<syntax::UnaryExpr>(&element->node)) {
            negative = sign->kind == syntax::UnaryKind::negate;
            element = &file_[sign->operand];
        }
        const auto* written = std::get_if<syntax::Number>(&element->node);
        const std::optional<std::int64_t> value = written ? written->value.as_int64() : std::nullopt;
        if (!value || *value > kMaxOffset) return;
        offset[axis] = static_cast<int>(negative ? -*value : *value);
    }
    diagnostic.mend(expr.where, access_text(base, 0, offset, symbols_.axes()));
}

bool Evaluator::place_subscript(syntax::ExprId id, Subscripts& result, std::vector<bool>& named,
                                const std::string& base) {
    const SourceRange where = this->where(id);
    if (names_other_grid(id)) {
        const std::optional<GridPlace> place = grid_place(id);
        if (!place) return false;
        const auto axis = static_cast<std::size_t>(place->axis);
        if (named[axis + 2]) {
            report(DiagnosticKind::invalid_offset, where,
                   fmt::format("`{}` has an offset already", symbols_.axes()[axis]));
            return false;
        }
        named[axis + 2] = true;
        result.map[axis] = place->place.map;
        result.offset[axis] = place->place.offset;
        return true;
    }
    std::vector<Anchor> anchors;
    Rational rest;
    if (!collect_subscript(id, true, anchors, rest)) return false;
    if (anchors.empty()) return true;  // the caller says so, once for all subscripts
    if (anchors.size() > 1) {
        report(DiagnosticKind::invalid_offset, where, "this offset names more than one axis")
            .note(fmt::format("separate them by commas, as in `{}[x+1, y+1]`", base));
        return false;
    }
    const Anchor& anchor = anchors[0];
    const std::string axis = anchor.axis == -2   ? std::string(anchor.level->name)
                             : anchor.axis == -1 ? "t"
                                                 : symbols_.axes()[anchor.axis];
    if (!anchor.forward) {
        report(DiagnosticKind::invalid_offset, where,
               fmt::format("`{}` cannot run backwards in an offset", axis))
            .note(fmt::format("an offset is `{0}`, `{0}+1`, `{0}-2` …", axis));
        return false;
    }
    const Rational half(1, 2);
    const bool is_half = !rest.is_integer() && (rest - half).is_integer() && anchor.axis >= 0;
    if (!rest.is_integer() && !is_half) {
        report(DiagnosticKind::invalid_offset, where,
               fmt::format("`{}` cannot be moved by {}", axis, rest.to_string()))
            .note(anchor.axis < 0 ? "time levels are whole"
                                  : "an offset is a whole number of cells, or half a cell more");
        return false;
    }
    const std::optional<std::int64_t> distance = (is_half ? rest - half : rest).as_int64();
    if (!distance || *distance > kMaxOffset || *distance < -kMaxOffset) {
        report(DiagnosticKind::out_of_range, where,
               fmt::format("an offset reaches {} cells at most, not {}", kMaxOffset, rest.to_string()));
        return false;
    }
    const std::size_t slot = static_cast<std::size_t>(anchor.axis + 2);
    if (named[slot]) {
        report(DiagnosticKind::invalid_offset, where, fmt::format("`{}` has an offset already", axis));
        return false;
    }
    named[slot] = true;
    if (anchor.axis == -2) {
        if (*distance != 0 && *distance != 1) {
            report(DiagnosticKind::time_level, where,
                   fmt::format("an iteration has the levels `{0}` and `{0}+1`", axis));
            return false;
        }
        result.iterate = static_cast<int>(*distance);
        result.level = anchor.level;
    } else if (anchor.axis < 0) {
        result.time = static_cast<int>(*distance);
        result.has_time = true;
    } else {
        result.offset[anchor.axis] = static_cast<int>(*distance);
        if (is_half) result.half = static_cast<Halves>(result.half | axis_bit(anchor.axis));
    }
    return true;
}

std::optional<Subscripts> Evaluator::subscripts(const syntax::Expr& expr, const std::string& base) {
    const syntax::Index& node = std::get<syntax::Index>(expr.node);
    Subscripts result;
    std::vector<bool> named(ir::kMaxRank + 2, false);
    bool valid = true;
    for (syntax::ExprId id : node.subscripts) {
        const std::size_t before = static_cast<std::size_t>(std::count(named.begin(), named.end(), true));
        if (!place_subscript(id, result, named, base)) {
            valid = false;
        } else if (static_cast<std::size_t>(std::count(named.begin(), named.end(), true)) == before) {
            report_unnamed_offset(node, expr, id, base);
            return std::nullopt;
        }
    }
    return valid ? std::optional<Subscripts>(result) : std::nullopt;
}

}  // namespace halo::sema
