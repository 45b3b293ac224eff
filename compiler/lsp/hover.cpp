// What is known of the name or the derivative at a place.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "compiler/ir/analysis.h"
#include "compiler/ir/finite_difference.h"
#include "compiler/ir/print.h"
#include "compiler/lsp/features.h"
#include "compiler/lsp/field_facts.h"
#include "compiler/sema/builtins.h"

namespace halo::lsp {

namespace {

std::string as_code(const std::string& text) {
    return "```halo\n" + text + "\n```\n";
}

// ---- derivatives

struct Weight {
    std::string place;  // "x-1/2"
    Rational value;
};

std::string place_text(const std::string& axis, const Rational& offset) {
    if (offset.is_zero()) return axis;
    const std::string text = offset.to_string();
    return axis + (text.starts_with("-") ? text : "+" + text);
}

std::vector<Weight> weights_of(const sema::Difference& difference, const std::string& axis) {
    const Rational half(1, 2);
    std::vector<Rational> nodes;
    const int order = static_cast<int>(difference.accuracy);
    if (difference.side != 0) {
        const int count = difference.derivative + order;
        for (int i = -difference.beyond; i < count - difference.beyond; ++i) {
            const Rational step(std::int64_t{difference.side < 0 ? -i : i});
            const Rational shift = difference.side < 0 ? Rational(-1, 2) : half;
            nodes.push_back(difference.is_staggered ? step + shift : step);
        }
    } else if (difference.is_staggered) {
        const int radius = ir::staggered_radius(difference.derivative, order);
        for (int r = -radius; r < radius; ++r)
            nodes.push_back(Rational(std::int64_t{r}) + half);
    } else {
        const int radius = ir::centred_radius(difference.derivative, order);
        for (int r = -radius; r <= radius; ++r)
            nodes.emplace_back(std::int64_t{r});
    }
    std::ranges::sort(nodes, [](const Rational& a, const Rational& b) { return a < b; });
    const std::vector<Rational> values = ir::difference_weights(difference.derivative, nodes);
    std::vector<Weight> weights;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (!values[i].is_zero()) weights.push_back({place_text(axis, nodes[i]), values[i]});
    return weights;
}

std::string difference_text(const sema::Difference& difference, const std::string& axis) {
    std::string what = difference.derivative == 0   ? "interpolated"
                       : difference.derivative == 1 ? "first derivative"
                       : difference.derivative == 2 ? "second derivative"
                                                    : fmt::format("derivative {}", difference.derivative);
    std::string text = fmt::format("- **{}** along `{}`, order {}", what, axis, difference.accuracy);
    if (difference.is_staggered) text += ", half a cell from the operand";
    if (difference.side != 0) text += difference.side < 0 ? ", from the low side" : ", from the high side";
    text += "\n";
    std::string row;
    for (const Weight& weight : weights_of(difference, axis))
        row += fmt::format("{}`{}`: {}", row.empty() ? "  " : ", ", weight.place, weight.value.to_string());
    text += row;
    if (difference.derivative > 0)
        text += fmt::format(" (over the spacing{})",
                            difference.derivative == 1 ? "" : fmt::format("^{}", difference.derivative));
    return text + "\n";
}

// The innermost call around a place that has been written out as differences.
std::string derivatives_at(const View& view, SourceRange callee) {
    std::string text;
    for (const sema::AnalyzedStencil& stencil : view.checked.spec().analysis.stencils) {
        for (const sema::Difference& difference : stencil.differences) {
            if (difference.where.begin != callee.begin) continue;
            const auto axis = static_cast<std::size_t>(difference.axis);
            if (axis >= stencil.program.axes.size()) continue;
            const std::string row = difference_text(difference, stencil.program.axes[axis].name);
            if (text.find(row) == std::string::npos) text += row;
        }
    }
    return text;
}

// ---- names

std::string facts_of(const View& view, const NameDefinition& definition) {
    const sema::AnalyzedStencil* const stencil =
        view.checked.spec().analysis.find_stencil(definition.stencil);
    if (stencil == nullptr) return {};
    const std::string name =
        definition.owner.empty() ? definition.name : definition.owner + "." + definition.name;
    const bool is_field = definition.kind == NameKind::field || definition.kind == NameKind::component ||
                          definition.kind == NameKind::let;
    if (is_field) return field_facts(stencil->program, name, view.checked.spec().ok);
    if (definition.kind == NameKind::axis && view.checked.spec().ok) {
        for (const ir::Axis& axis : stencil->program.axes) {
            const bool is_stretched =
                std::ranges::any_of(stencil->program.stretched, [&](const ir::StretchedAxis& each) {
                    return &stencil->program.axes[static_cast<std::size_t>(each.axis)] == &axis;
                });
            if (axis.name == name && is_stretched)
                return fmt::format("- a spacing for each cell, origin {}\n",
                                   ir::print(stencil->program, axis.origin));
            if (axis.name == name)
                return fmt::format("- spacing {}, origin {}\n", ir::print(stencil->program, axis.spacing),
                                   ir::print(stencil->program, axis.origin));
        }
    }
    return {};
}

std::string name_text(const View& view, const NameDefinition& definition) {
    std::string text = as_code(definition.text);
    std::string of = definition.stencil.empty() ? "" : fmt::format(" of stencil `{}`", definition.stencil);
    if (!definition.owner.empty()) of = fmt::format(" of `{}`", definition.owner);
    text += fmt::format("{} `{}`{}", describe(definition.kind), definition.name, of);
    if (!view.checked.in_spec(definition.where))
        text += fmt::format(", in {}", view.checked.spec().source.name(definition.where.begin));
    text += "\n\n";
    return text + facts_of(view, definition);
}

std::string function_text(const View& view, SourceRange word) {
    const std::string_view name = view.checked.spec().source.text(word);
    for (const sema::FunctionForm& form : sema::function_forms()) {
        if (form.name != name) continue;
        return as_code(std::string(form.call)) + std::string(form.gives) + "\n\n" +
               derivatives_at(view, word);
    }
    return {};
}

// The letters around a place.
SourceRange word_at(std::string_view text, std::uint32_t offset) {
    const auto is_letter = [&](std::uint32_t at) {
        return at < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
    };
    std::uint32_t begin = offset, end = offset;
    while (begin > 0 && is_letter(begin - 1))
        --begin;
    while (is_letter(end))
        ++end;
    return {begin, end};
}

}  // namespace

Json hover(const View& view, std::uint32_t offset) {
    const bool is_in_comment =
        std::ranges::any_of(view.checked.spec().tree.comments, [&](const syntax::Comment& comment) {
            return comment.where.begin <= offset && offset < comment.where.end;
        });
    if (is_in_comment) return nullptr;
    SourceRange word = word_at(view.document.text, offset);
    std::string text;
    std::vector<SourceRange> told;
    for (const NameUse* use : view.checked.names().at(offset)) {
        const NameDefinition& definition = view.checked.names().definitions[use->definition];
        const std::string each = name_text(view, definition);
        word = use->where;
        if (text.find(each) == std::string::npos) text += (text.empty() ? "" : "\n") + each;
    }
    if (text.empty()) text = function_text(view, word);
    if (text.empty()) return nullptr;
    return {{"contents", {{"kind", "markdown"}, {"value", text}}}, {"range", view.lines.range(word)}};
}

}  // namespace halo::lsp
