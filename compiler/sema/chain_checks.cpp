// What a chain can have: a closed list, of which all else is refused.
#include <fmt/format.h>

#include "compiler/ir/analysis.h"
#include "compiler/sema/chain_parts.h"

namespace halo::sema {

namespace {

// Of a statement or declaration that no chain has: its words, and its place.
struct Unchained {
    std::string_view words;
    SourceRange where;
};

std::optional<Unchained> guard_of(const syntax::File& file, const std::vector<syntax::GuardId>& guards) {
    for (const syntax::GuardId id : guards) {
        const syntax::Guard& guard = file[id];
        if (guard.repeat) return Unchained{"`repeat`", guard.where};
        if (guard.sweep) return Unchained{"`sweep`", guard.where};
    }
    return std::nullopt;
}

std::optional<Unchained> unchained(const syntax::File& file, const syntax::StencilStatement& statement,
                                   bool is_stretched) {
    if (const auto* points = std::get_if<syntax::PointsDecl>(&statement))
        return Unchained{"points", points->where};
    if (const auto* spacing = std::get_if<syntax::SpacingDecl>(&statement); spacing && is_stretched)
        return Unchained{"a spacing that differs from cell to cell", spacing->where};
    if (const auto* table = std::get_if<syntax::TableDecl>(&statement))
        return Unchained{"a table", table->where};
    if (const auto* series = std::get_if<syntax::SeriesDecl>(&statement))
        return Unchained{"a series", series->where};
    if (const auto* solve = std::get_if<syntax::SolveStatement>(&statement))
        return Unchained{"`solve`", solve->where};
    if (const auto* schedule = std::get_if<syntax::ScheduleBlock>(&statement))
        return Unchained{"a `schedule` of its own", schedule->where};
    if (const auto* assignment = std::get_if<syntax::Assignment>(&statement))
        return guard_of(file, assignment->guards);
    if (const auto* let = std::get_if<syntax::LetDecl>(&statement)) {
        if (let->coarse) return Unchained{"values on a coarser grid", let->where};
        return guard_of(file, let->guards);
    }
    if (const auto* field = std::get_if<syntax::FieldDecl>(&statement)) {
        if (field->coarse) return Unchained{"a field on a coarser grid", field->where};
        if (field->layout && field->layout->kind.text != "soa")
            return Unchained{"a field with `layout aos`", field->layout->where};
    }
    if (const auto* reduce = std::get_if<syntax::ReduceDecl>(&statement)) {
        if (reduce->coarse) return Unchained{"values on a coarser grid", reduce->where};
        return guard_of(file, reduce->guards);
    }
    return std::nullopt;
}

// Whether a statement reads what another of its stencil reduces, later or in the step before.
std::optional<SourceRange> read_of_earlier_reduction(const ir::Program& program) {
    std::uint32_t known = 0;
    for (const ir::Statement& statement : program.statements) {
        for (const std::uint32_t e : ir::reached_exprs(program, ir::roots_of(statement))) {
            const auto* read = std::get_if<ir::ReductionRef>(&program.exprs[e].node);
            if (read != nullptr && read->reduction.index >= known) return program.exprs[e].where;
        }
        if (std::holds_alternative<ir::Reduce>(statement)) ++known;
    }
    return std::nullopt;
}

}  // namespace

bool can_be_chained(const syntax::File& file, const ChainLink& link, DiagnosticSink& sink) {
    const syntax::Stencil& tree = link.member.symbols->stencil();
    bool is_good = true;
    const bool is_stretched = !link.member.stencil->program.stretched.empty();
    for (const syntax::StencilStatement& statement : tree.statements) {
        const std::optional<Unchained> found = unchained(file, statement, is_stretched);
        if (!found) continue;
        is_good = false;
        sink.report(DiagnosticKind::invalid_chain, found->where,
                    fmt::format("`{}` has {}, which a stencil that a run chains cannot have yet",
                                tree.name.text, found->words))
            .label(link.where, "it is chained here")
            .note("the stencil of the run itself can");
    }
    if (const auto where = read_of_earlier_reduction(link.member.stencil->program)) {
        is_good = false;
        sink.report(DiagnosticKind::invalid_chain, *where,
                    "the value of a reduction in the step before is not known in a chain")
            .label(link.where,
                   fmt::format("`{}` is chained here, and is not done in each step", tree.name.text))
            .note("read it after its `reduce` statement");
    }
    return is_good;
}

bool can_be_followed(const ChainMember& first, const ChainLink& phase, DiagnosticSink& sink) {
    const ir::Program& program = first.stencil->program;
    const auto refuse = [&](SourceRange where, std::string_view what) {
        sink.report(DiagnosticKind::invalid_chain, phase.where,
                    fmt::format("`{}` has {}, and no phase can follow it yet", program.name, what))
            .label(where, "here")
            .note("`every` can chain other stencils to it");
        return false;
    };
    for (const ir::Field& field : program.fields) {
        if (field.role == ir::Role::output && !ir::is_hidden(program, field))
            return refuse(field.where, fmt::format("the output `{}`", field.name));
    }
    if (!program.points.empty()) return refuse(program.points.front().where, "points");
    for (const ir::Statement& statement : program.statements) {
        const auto* assign = std::get_if<ir::Assign>(&statement);
        if (assign != nullptr && !assign->repeats.empty())
            return refuse(assign->where, "a `repeat` or `solve`");
    }
    return true;
}

}  // namespace halo::sema
