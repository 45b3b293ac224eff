#include "compiler/sema/field_axes.h"

#include <fmt/format.h>

#include <array>

#include "compiler/sema/stencil_analyzer.h"

namespace halo::sema {

rt::FieldGrid resolve_axes(const std::vector<syntax::Name>& over, Evaluator& evaluator) {
    rt::FieldGrid grid;
    if (over.empty()) return grid;
    const Symbols& symbols = evaluator.symbols();
    std::array<const syntax::Name*, ir::kMaxRank> said{};
    for (const syntax::Name& name : over) {
        const Symbol* const axis = symbols.find(name.text);
        if (axis == nullptr || axis->kind != Symbol::Kind::axis) {
            evaluator.report_unknown_axis(name.text, name.where);
            return grid;
        }
        const syntax::Name*& before = said[static_cast<std::size_t>(axis->index)];
        if (before != nullptr)
            evaluator
                .report(DiagnosticKind::duplicate_setting, name.where,
                        fmt::format("the axis `{}` is given twice", name.text))
                .label(before->where, "given here before");
        before = &name;
    }
    for (int axis = 0; axis < symbols.rank(); ++axis)
        grid.along[static_cast<std::size_t>(axis)] = said[static_cast<std::size_t>(axis)] != nullptr;
    return grid;
}

std::string axes_text(const rt::FieldGrid& grid, const std::vector<std::string>& axes) {
    std::vector<std::string> own;
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
        if (grid.has(static_cast<int>(axis))) own.push_back(axes[axis]);
    return fmt::format("{}", fmt::join(own, " and "));
}

Diagnostic& report_missing_axis(const std::string& field, const rt::FieldGrid& grid, const std::string& what,
                                SourceRange where, const std::vector<std::string>& axes,
                                DiagnosticSink& sink) {
    return sink.report(
        DiagnosticKind::missing_axis, where,
        fmt::format("`{}` lies over {} alone and has no {}", field, axes_text(grid, axes), what));
}

bool StencilAnalyzer::refuse_assigning(ir::FieldId id, SourceRange where) {
    const ir::Field& field = program_[id];
    sink_
        .report(DiagnosticKind::not_built_yet, where,
                fmt::format("assigning `{}` is not built yet: it lies over {} alone", field.name,
                            axes_text(field.grid, symbols_.axes())))
        .label(evaluator_.fields()[id.index].symbol->where, "declared here")
        .note(fmt::format(
            "`init {0} = …` or `load {0} from \"…\"` in the run gives it values; a field over all "
            "axes can be assigned",
            field.name));
    return false;
}

}  // namespace halo::sema
