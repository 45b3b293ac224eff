// Statements that write what another one of the step has written before.
#include <fmt/format.h>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/sema/stencil_analyzer.h"

namespace halo::sema {

using ir::Role;

void StencilAnalyzer::report_written_twice(const syntax::Assignment& assignment, const Reference& reference) {
    const SourceRange where = evaluator_.where(assignment.target);
    const SourceRange before = evaluator_.fields()[reference.first].written_where;
    const bool is_in_loop = before == where;  // in another iteration
    // A field that the loop declares twice has had its message.
    if (is_in_loop && evaluator_.fields()[reference.first].symbol->is_twice) return;
    Diagnostic& diagnostic = sink_.report(DiagnosticKind::written_twice, where,
                                          fmt::format("`{}` is written twice in a step", reference.name));
    if (!is_in_loop) diagnostic.label(before, "what is written here is lost");
    diagnostic.note(is_in_loop ? "each iteration of the loop writes it, and only the last is kept"
                               : "`on` and `where` write some of the cells alone");
    diagnostic.note("all cells are written again once something has read what was written");
}

bool StencilAnalyzer::reads_level(const std::vector<Value>& leaves, const Target& target) {
    bool result = false;
    const std::uint32_t first = target.reference.first;
    for (const Value& leaf : leaves) {
        if (!leaf.is_expr()) continue;
        for_each_leaf(leaf, [&](const ir::Expr& expr) {
            const auto* access = std::get_if<ir::Access>(&expr.node);
            if (!access) return;
            const bool is_target =
                access->field.index >= first && access->field.index - first < leaves.size();
            // A let counts as a read of the target, as it may be made of it.
            result = result || (is_target && access->time == target.time) ||
                     program_[access->field].role == Role::intermediate;
        });
    }
    return result;
}

// Whether what was written last of the target is read by some statement behind that.
bool StencilAnalyzer::is_read_since(const Target& target) const {
    const std::uint32_t first = target.reference.first;
    const std::size_t count = target.reference.shape->leaves();
    const auto is_target = [&](ir::FieldId field, int time) {
        return field.index >= first && field.index - first < count && time == target.time;
    };
    for (auto statement = program_.statements.rbegin(); statement != program_.statements.rend();
         ++statement) {
        const auto* assign = std::get_if<ir::Assign>(&*statement);
        if (assign != nullptr && is_target(assign->target, assign->time)) return false;
        for (std::uint32_t i = 0; i < count; ++i)
            if (ir::reads(program_, *statement, {first + i}, target.time)) return true;
    }
    return false;
}

void StencilAnalyzer::check_in_place(const ir::Assign& assign) {
    for (const std::uint32_t i : ir::reached_exprs(program_, ir::roots_of(ir::Statement(assign)))) {
        if (!std::holds_alternative<ir::TableSum>(program_.exprs[i].node)) continue;
        sink_
            .report(DiagnosticKind::not_built_yet, assign.where,
                    "a sum over a table is not built yet where a field is changed in place")
            .note("give the sum a name before: `let total = sum(…) …`");
        return;
    }
    if (assign.sweep) return;  // check_sweeps() looks at all of its statements
    const std::optional<ir::Access> access = ir::read_of_written(program_, assign);
    if (!access) return;
    const std::string& name = program_[assign.target].name;
    const std::string text = access_text(name, access->time, access->offset, symbols_.axes());
    sink_
        .report(
            DiagnosticKind::reads_what_it_writes, assign.where,
            fmt::format("this changes `{}` in place, and reads `{}`, which it may change, too", name, text))
        .label(evaluator_.fields()[assign.target.index].written_where, "written here before")
        .note(fmt::format("keep what was there: `let before = {}`, and read `before` here",
                          access_text(name, access->time, {}, symbols_.axes())))
        .note("or colour the cells so that neighbours never have one: `where mod(idx(x), 2) == 0`");
}

}  // namespace halo::sema
