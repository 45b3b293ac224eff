// Sweeps: statements that go along an axis cell after cell, and read what they have written before.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/recurrences.h"
#include "compiler/ir/repeats.h"
#include "compiler/sema/stencil_analyzer.h"
#include "compiler/support/error.h"

namespace halo::sema {

using ir::SweepMistake;

std::optional<syntax::GuardId> StencilAnalyzer::sweep_around(
    const std::vector<syntax::GuardId>& guards) const {
    const auto found = std::find_if(guards.rbegin(), guards.rend(),
                                    [&](syntax::GuardId id) { return file_[id].sweep.has_value(); });
    return found == guards.rend() ? std::nullopt : std::optional(*found);
}

std::optional<syntax::GuardId> StencilAnalyzer::sweep_of_statement(
    const syntax::StencilStatement& statement) const {
    if (const auto* assignment = std::get_if<syntax::Assignment>(&statement))
        return sweep_around(assignment->guards);
    const auto* let = std::get_if<syntax::LetDecl>(&statement);
    return let == nullptr ? std::nullopt : sweep_around(let->guards);
}

void StencilAnalyzer::note_swept(syntax::GuardId sweep, const Target& target, SourceRange where) {
    std::vector<std::uint32_t>& targets = sweeps_[sweep.index].targets;
    const std::uint32_t first = target.reference.first;
    if (std::ranges::find(targets, first) != targets.end()) {
        sink_
            .report(DiagnosticKind::written_twice, where,
                    fmt::format("`{}` is written twice in a sweep", target.reference.name))
            .note("what is written at a cell first can have a name: `let first = …`");
    }
    for (std::uint32_t i = 0; i < target.reference.shape->leaves(); ++i)
        targets.push_back(first + i);
}

bool StencilAnalyzer::begin_sweep(syntax::GuardId id) {
    Sweep& sweep = sweeps_[id.index];
    if (std::exchange(sweep.has_begun, true)) return sweep.order.has_value();
    for (const std::uint32_t field : sweep.targets)
        if (!std::exchange(evaluator_.fields()[field].written, true)) sweep.fresh.insert(field);
    const syntax::SweepOrder& order = *file_[id].sweep;
    if (order.has_inner) {
        sink_
            .report(DiagnosticKind::not_built_yet, file_[id].where,
                    "statements beside a sweep within a sweep are not built yet")
            .note("all statements of a sweep along two axes stand in the inner block");
        return false;
    }
    const std::optional<int> axis = axis_of_sweep(order);
    if (!axis) return false;
    ir::LineSweep made{*axis, order.upwards, sweep_count_++, order.in_parts};
    if (order.around) {
        const syntax::SweepOrder& around = *file_[*order.around].sweep;
        const std::optional<int> outer = axis_of_sweep(around);
        if (!outer) return false;
        if (*outer == *axis) {
            sink_
                .report(DiagnosticKind::misplaced_statement, file_[id].where,
                        fmt::format("the sweep around this one goes along `{}`, too", order.axis.text))
                .note("a sweep in another goes along another axis: `sweep y up { sweep x up { … } }`");
            return false;
        }
        made.axis = *outer;
        made.upwards = around.upwards;
        made.inner = {*axis, order.upwards};
    }
    sweep.order = made;
    return true;
}

std::optional<int> StencilAnalyzer::axis_of_sweep(const syntax::SweepOrder& order) {
    const Symbol* const symbol = symbols_.find(order.axis.text);
    if (symbol != nullptr && symbol->kind == Symbol::Kind::axis) return static_cast<int>(symbol->index);
    if (!order.axis.text.empty()) evaluator_.report_unknown_axis(order.axis.text, order.axis.where);
    return std::nullopt;
}

bool StencilAnalyzer::check_swept(syntax::GuardId id, const std::vector<Value>& leaves, const Target& target,
                                  const Cells& cells, const syntax::Assignment& assignment) {
    Sweep& sweep = sweeps_.at(id.index);
    if (!sweep.region) sweep.region = cells.region;
    if (*sweep.region != cells.region) {
        sink_
            .report(DiagnosticKind::not_built_yet, assignment.where,
                    "statements of one sweep for different cells are not built yet")
            .note("write a `sweep` for each, or choose the cells by `where`");
        return false;
    }
    if (leaves.size() < 2) return true;
    for (const Value& leaf : leaves) {
        bool reads_itself = false;
        if (leaf.is_expr())
            for_each_leaf(leaf, [&](const ir::Expr& expr) {
                const auto* access = std::get_if<ir::Access>(&expr.node);
                const std::uint32_t first = target.reference.first;
                reads_itself =
                    reads_itself ||
                    (access != nullptr && access->time == target.time && access->field.index >= first &&
                     access->field.index - first < leaves.size() && access->offset == ir::Offset{});
            });
        if (!reads_itself) continue;
        sink_
            .report(DiagnosticKind::not_built_yet, assignment.where,
                    "components that a sweep makes of one another at the same cell are not built yet")
            .note("assign them one by one");
        return false;
    }
    return true;
}

void StencilAnalyzer::read_let_in_sweep(const syntax::LetDecl& let, syntax::GuardId id) {
    begin_sweep(id);
    const Halves place = place_of(let);
    evaluator_.set_wanted(place);
    Value value = evaluator_.evaluate(let.value);
    const std::string name = fmt::format("`{}`", let.name.text);
    if (!require_positions(value, place, name, let.value)) value = Value();
    if (value.is_poison()) has_poison_ = true;
    if (!let.boundaries.empty() || !let.halos.empty()) {
        const SourceRange where =
            let.boundaries.empty() ? let.halos.front().where : let.boundaries.front().where;
        sink_
            .report(DiagnosticKind::needless_boundary, where,
                    name + " is written out where it is used, so it has no boundary and no halo")
            .note("a `let` in a sweep is a name for an expression");
    }
    auto& names = sweeps_.at(id.index).names;
    const auto taken = std::ranges::find(names, let.name.text, [](const auto& each) { return each.first; });
    if (taken != names.end()) {
        sink_.report(DiagnosticKind::duplicate_name, let.name.where,
                     name + " is declared twice in this sweep");
        return;
    }
    names.emplace_back(let.name.text, std::move(value));
}

void StencilAnalyzer::check_sweeps() {
    std::set<std::uint32_t> written;
    const auto is_written = [&](ir::FieldId field) { return written.contains(field.index); };
    for (std::size_t i = 0; i < program_.statements.size();) {
        const ir::LineSweep* const sweep = ir::sweep_of(program_.statements[i]);
        const std::size_t past = ir::end_of_sweep(program_, i);
        if (sweep != nullptr) {
            if (const auto mistake = ir::find_sweep_mistake(program_, i, is_written))
                report_sweep_mistake(*sweep, *mistake);
            else if (sweep->in_parts)
                check_recurrences(i);
        }
        for (; i < past; ++i)
            if (const auto* assign = std::get_if<ir::Assign>(&program_.statements[i]))
                written.insert(assign->target.index);
    }
}

void StencilAnalyzer::report_sweep_mistake(const ir::LineSweep& sweep, const SweepMistake& mistake) {
    const ir::Expr& expr = program_[mistake.read];
    const auto& access = std::get<ir::Access>(expr.node);
    const ir::Field& field = program_[access.field];
    const auto along = static_cast<std::size_t>(mistake.axis);
    const std::string& axis = symbols_.axes()[along];
    const std::string read = access_text(field.name, access.time, access.offset, symbols_.axes());
    const int side = access.offset[along] < 0 ? 0 : 1;
    const std::string face = axis + (side == 0 ? ".low" : ".high");
    const std::string start = fmt::format(
        "give the field `boundary {0} fixed 0`; or no boundary there, and its first cells a value "
        "before the sweep: `on {0} {{ … }}`",
        face);
    switch (mistake.kind) {
        case SweepMistake::Kind::across:
            if (sweep.inner) {
                const std::string& inner = symbols_.axes()[static_cast<std::size_t>(sweep.inner->axis)];
                sink_
                    .report(DiagnosticKind::reads_what_it_writes, expr.where,
                            fmt::format("`{}` is in another plane: a sweep along two axes goes through each "
                                        "plane of `{}` and `{}` by itself",
                                        read, axis, inner))
                    .note(fmt::format("what a sweep writes is read along `{}` and `{}` alone", axis, inner));
                return;
            }
            sink_
                .report(DiagnosticKind::reads_what_it_writes, expr.where,
                        fmt::format("`{}` is on another line: a sweep goes along each line of `{}` by itself",
                                    read, axis))
                .note(fmt::format("what a sweep writes is read along `{}` alone", axis));
            return;
        case SweepMistake::Kind::ahead:
            report_not_done(sweep, access, expr.where);
            return;
        case SweepMistake::Kind::no_start:
            sink_
                .report(DiagnosticKind::boundary_needed, expr.where,
                        fmt::format("nothing says what `{}` is where the sweep begins, past {}", read, face))
                .note(start);
            return;
        case SweepMistake::Kind::left_out:
            sink_
                .report(
                    DiagnosticKind::boundary_needed, expr.where,
                    fmt::format("`{}` has no value where the sweep begins: other fields that it reads have "
                                "nothing past {}, so it leaves out cells there",
                                read, face))
                .note(fmt::format(
                    "give these a boundary, or the cells a value before the sweep: `on {} {{ … }}`", face));
            return;
        case SweepMistake::Kind::shows: {
            const bool shows_cells = field.image(mistake.axis, side).shows_cell();
            sink_
                .report(DiagnosticKind::boundary_value, expr.where,
                        shows_cells
                            ? fmt::format("past {} lie cells of `{}` itself, which the sweep is changing",
                                          face, field.name)
                            : fmt::format("past {} the boundary of `{}` has a value for each cell", face,
                                          field.name))
                .label(field.where, "its boundary")
                .note("past the ends of a sweep lies one number for all, `fixed`, or nothing")
                .note(start);
            return;
        }
    }
}

void StencilAnalyzer::check_recurrences(std::size_t first) {
    using Kind = ir::RecurrenceMistake::Kind;
    ir::Program scratch = program_;  // takes the expressions of the recurrences, which are of no use here
    const auto found = ir::find_recurrences(scratch, first);
    const auto* mistake = std::get_if<ir::RecurrenceMistake>(&found);
    if (mistake == nullptr) return;
    const auto& assign = std::get<ir::Assign>(program_.statements[mistake->statement]);
    const std::string& name = program_[assign.target].name;
    const auto [kind, text] = [&]() -> std::pair<DiagnosticKind, std::string> {
        switch (mistake->kind) {
            case Kind::not_a_quotient:
                return {
                    DiagnosticKind::not_linear,
                    fmt::format("`{}` is not made of its value at the cell before by sums, products and a "
                                "quotient of what is linear in that",
                                name)};
            case Kind::rounded:
                return {
                    DiagnosticKind::not_built_yet,
                    fmt::format("`{}` is no f32 or f64 field: sweeps in parts of others are not built yet",
                                name)};
            case Kind::leaves_out:
                return {DiagnosticKind::not_built_yet,
                        "sweeps in parts that leave out cells of a line are not built yet"};
            case Kind::needs_later:
                return {
                    DiagnosticKind::not_built_yet,
                    fmt::format("`{}` is made of what a later statement of the sweep gave the cell before: "
                                "recurrences that need each other are not built in parts yet",
                                name)};
            case Kind::ahead:
                return {DiagnosticKind::reads_what_it_writes,
                        "parts of a line are done side by side, so that none of them reads ahead what the "
                        "sweep changes"};
            case Kind::further:
                return {DiagnosticKind::not_built_yet,
                        "recurrences of more than the cell before are not built in parts yet"};
        }
        throw InternalError("unknown mistake of a recurrence");
    }();
    sink_.report(kind, program_[mistake->where].where, text)
        .note("without `in parts` it is done cell after cell");
}

void StencilAnalyzer::report_not_done(const ir::LineSweep& sweep, const ir::Access& access,
                                      SourceRange where) {
    const std::vector<std::string>& axes = symbols_.axes();
    const std::string& name = program_[access.field].name;
    const std::string read = access_text(name, access.time, access.offset, axes);
    if (access.offset == ir::Offset{}) {
        sink_
            .report(DiagnosticKind::read_before_written, where,
                    fmt::format("`{}` has no value yet at the cell itself", read))
            .note("a statement before this one in the sweep, or before the sweep, can give it one");
        return;
    }
    const auto words = [&](int axis, bool upwards) {
        return fmt::format("{} {}", axes[static_cast<std::size_t>(axis)], upwards ? "up" : "down");
    };
    std::string order = sweep.upwards ? "up" : "down";
    std::string other = words(sweep.axis, !sweep.upwards);
    if (sweep.inner) {
        order = fmt::format("{}, and {} within it", words(sweep.axis, sweep.upwards),
                            words(sweep.inner->axis, sweep.inner->upwards));
        if (access.offset[static_cast<std::size_t>(sweep.axis)] == 0)
            other = words(sweep.inner->axis, !sweep.inner->upwards);
    }
    Diagnostic& diagnostic =
        sink_.report(DiagnosticKind::read_before_written, where,
                     fmt::format("`{}` has no value yet: this sweep goes {}", read, order));
    diagnostic.note(access.time == 1 ? fmt::format("the value before the step is `{}`",
                                                   access_text(name, 0, access.offset, axes))
                                     : fmt::format("the other way is `sweep {}`", other));
}

void StencilAnalyzer::keep_cells_of_sweeps() {
    std::vector<ir::Statement> statements;
    std::set<std::uint32_t> written;
    ir::ExprBuilder builder(program_);
    for (std::size_t i = 0; i < program_.statements.size();) {
        const bool sweeps = ir::sweep_of(program_.statements[i]) != nullptr;
        const std::size_t past = ir::end_of_sweep(program_, i);
        for (std::size_t member = i; member < past; ++member) {
            const auto* assign = std::get_if<ir::Assign>(&program_.statements[member]);
            if (assign == nullptr || !written.insert(assign->target.index).second) continue;
            if (!sweeps || assign->time != 1 || !ir::is_partial(*assign)) continue;
            ir::Assign keep;
            keep.target = assign->target;
            keep.time = 1;
            keep.value = builder.access(assign->target, 0, {});
            keep.where = assign->where;
            // Each iteration goes on with what the last one left, so it stands before them all.
            std::size_t at = statements.size();
            if (const auto& repeats = assign->repeats; !repeats.empty())
                while (at > 0 && ir::is_within(statements[at - 1], repeats.front().number))
                    --at;
            statements.insert(statements.begin() + static_cast<std::ptrdiff_t>(at), keep);
        }
        for (; i < past; ++i)
            statements.push_back(std::move(program_.statements[i]));
    }
    program_.statements = std::move(statements);
}

}  // namespace halo::sema
