// Repeats: statements that are done several times in a step, and levels of their iterations.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/ir/repeats.h"
#include "compiler/sema/stencil_analyzer.h"
#include "runtime/core/launch_plan.h"

namespace halo::sema {

using ir::FieldId;
using ir::Role;

std::optional<syntax::GuardId> StencilAnalyzer::repeat_around(
    const std::vector<syntax::GuardId>& guards) const {
    if (guards.empty() || !file_[guards.front()].repeat) return std::nullopt;
    return guards.front();
}

std::optional<syntax::GuardId> StencilAnalyzer::repeat_of_statement(
    const syntax::StencilStatement& statement) const {
    if (const auto* assignment = std::get_if<syntax::Assignment>(&statement))
        return repeat_around(assignment->guards);
    if (const auto* reduce = std::get_if<syntax::ReduceDecl>(&statement))
        return repeat_around(reduce->guards);
    const auto* let = std::get_if<syntax::LetDecl>(&statement);
    if (let == nullptr) return std::nullopt;
    return let->repeat ? let->repeat : repeat_around(let->guards);
}

void StencilAnalyzer::see_levels_of(std::optional<syntax::GuardId> repeat) {
    if (!repeat) return evaluator_.set_iterates(nullptr);
    Repeated& repeated = repeats_[repeat->index];
    const std::optional<syntax::Name>& level = file_[*repeat].repeat->level;
    if (level) repeated.iterates.level = level->text;
    evaluator_.set_iterates(level ? &repeated.iterates : nullptr);
}

void StencilAnalyzer::note_repeated(syntax::GuardId id, Target& target,
                                    const syntax::Assignment& assignment) {
    Repeated& repeated = repeats_[id.index];
    const std::uint32_t first = target.reference.first;
    const auto leaves = static_cast<std::uint32_t>(target.reference.shape->leaves());
    repeated.targets.push_back({first, leaves, target.is_iterate,
                                assignment.guards.size() > 1 && !sweep_around(assignment.guards),
                                evaluator_.where(assignment.target), target.reference.name});
    if (!target.is_iterate) return;
    for (std::uint32_t i = 0; i < leaves; ++i)
        repeated.iterates.written.insert(first + i);
}

void StencilAnalyzer::note_misread(syntax::GuardId id, syntax::ExprId target) {
    if (const auto* name = std::get_if<syntax::NameUse>(&base_of(file_[target]).node))
        repeats_[id.index].iterates.misread.insert(name->name);
}

// A field that is written at no other level goes on from step to step.
void StencilAnalyzer::claim_iterates() {
    for (std::size_t i = 0; i < steps_of_targets_.size(); ++i) {
        std::optional<Target>& target = targets_[i];
        if (!target || !target->is_iterate) continue;
        const SourceRange where = evaluator_.where(steps_of_targets_[i]->target);
        for (std::uint32_t leaf = 0; target && leaf < target->reference.shape->leaves(); ++leaf) {
            const FieldId id{target->reference.first + leaf};
            const bool is_output =
                evaluator_.fields()[id.index].assigned && program_[id].role == Role::output;
            target->time = is_output ? 0 : 1;
            if (!claim(id, target->time, where)) target.reset();
        }
    }
}

void StencilAnalyzer::enter_repeat(std::optional<syntax::GuardId> repeat) {
    if (repeat == current_repeat_) return;
    if (current_repeat_) end_repeat(*current_repeat_);
    current_repeat_ = repeat;
    see_levels_of(repeat);
    if (repeat) begin_repeat(*repeat);
}

void StencilAnalyzer::begin_repeat(syntax::GuardId id) {
    Repeated& repeated = repeats_[id.index];
    const syntax::RepeatCount& written = *file_[id].repeat;
    repeated.number = repeat_count_++;
    if (const auto count =
            evaluator_.integer(written.count, "the number of iterations", 1, rt::kMostIterations))
        repeated.count = *count;
    if (written.level) check_level_name(*written.level);
    for (const Repeated::Written& each : repeated.targets) {
        // Of what the block changes: before the first iteration it is what it was.
        for (std::uint32_t field = each.first; field < each.first + each.leaves; ++field) {
            FieldInfo& info = evaluator_.fields()[field];
            if (info.written || (!each.is_iterate && !each.is_guarded)) continue;
            if (program_.fields[field].role == Role::state) {
                ir::Assign keep;
                keep.target = FieldId{field};
                keep.time = 1;
                keep.value = read_cell(keep.target, 0, each.where).id;
                keep.where = each.where;
                program_.statements.emplace_back(keep);
            } else if (each.is_iterate && !std::exchange(info.reported_unwritten, true)) {
                has_poison_ = true;
                sink_
                    .report(DiagnosticKind::read_before_written, each.where,
                            fmt::format("nothing says what `{}` is before the first iteration", each.name))
                    .note(fmt::format("assign it before the `repeat`: `{} = 0`", each.name));
            }
            info.written = true;
        }
    }
    repeated.first_statement = program_.statements.size();
}

Value StencilAnalyzer::read_cell(FieldId field, int time, SourceRange where) {
    return evaluator_.arithmetic().leaf(program_[field].type, ir::Access{field, time, {}}, false, where);
}

void StencilAnalyzer::check_level_name(const syntax::Name& level) {
    const Symbol* const symbol = symbols_.find(level.text);
    if (level.text == "t") {
        sink_.report(DiagnosticKind::reserved_name, level.where,
                     "an iteration cannot be called `t`, like the time level");
    } else if (symbol != nullptr) {
        sink_
            .report(DiagnosticKind::duplicate_name, level.where,
                    fmt::format("an iteration cannot be called `{}`: that is {}", level.text,
                                describe(symbol->kind)))
            .label(symbol->where, "declared here");
    }
}

std::optional<Value> StencilAnalyzer::is_among(const Cells& cells, SourceRange where) {
    using Op = ir::BinaryOp;
    Arithmetic& arithmetic = evaluator_.arithmetic();
    std::optional<Value> chosen;
    if (cells.condition) chosen = Value::of(*cells.condition, ir::Scalar::boolean, false);
    const auto also = [&](const Value& condition) {
        chosen = chosen ? arithmetic.binary(Op::logical_and, *chosen, condition, where) : condition;
    };
    for (int axis = 0; axis < symbols_.rank(); ++axis) {
        const ir::Region::Range& range = cells.region.ranges[static_cast<std::size_t>(axis)];
        const Value index = arithmetic.leaf(arithmetic.compute_type(),
                                            ir::Coordinate{ir::CoordinateKind::index, axis}, false, where);
        const auto place = [&](const ir::Region::Bound& bound) {
            const Value number = Value::of(Rational(bound.offset));
            if (!bound.from_high) return number;
            const Value length = evaluator_.length(axis, where);
            return arithmetic.binary(Op::add, length, number, where);
        };
        if (range.begin != ir::Region::Range{}.begin)
            also(arithmetic.binary(Op::greater_equal, index, place(range.begin), where));
        if (range.end != ir::Region::Range{}.end)
            also(arithmetic.binary(Op::less, index, place(range.end), where));
    }
    return chosen;
}

void StencilAnalyzer::assign_iterate(syntax::GuardId id, const Target& target,
                                     const std::vector<Value>& leaves, const Cells& cells,
                                     const syntax::Assignment& assignment) {
    Repeated& repeated = repeats_.at(id.index);
    const std::string& name = target.reference.name;
    const auto writes = std::ranges::count_if(repeated.targets, [&](const Repeated::Written& each) {
        return each.first < target.reference.first + leaves.size() &&
               target.reference.first < each.first + each.leaves;
    });
    if (writes > 1) {
        if (!repeated.iterates.next.contains(target.reference.first))
            sink_
                .report(DiagnosticKind::written_twice, evaluator_.where(assignment.target),
                        fmt::format("`{}` is written twice in an iteration", name))
                .note("for cells of two kinds write one value: `if condition then a else b`");
        has_poison_ = true;
    }
    // Cells that are left out have at k+1 what they have at k.
    const std::optional<Value> chosen = is_among(cells, assignment.where);
    std::vector<FieldId> made;
    for (std::uint32_t i = 0; i < leaves.size(); ++i) {
        const FieldId field{target.reference.first + i};
        ir::Field next = program_[field];
        next.name += repeated.number == 0 ? ".next" : fmt::format(".next{}", repeated.number);
        next.role = Role::intermediate;
        next.history = 0;
        FieldInfo info = evaluator_.fields()[field.index];
        info.assigned = info.written = true;
        const FieldId id_of_next{static_cast<std::uint32_t>(program_.fields.size())};
        program_.fields.push_back(std::move(next));
        evaluator_.fields().push_back(std::move(info));
        const SourceRange where = evaluator_.where(assignment.value);
        if (chosen) {
            const Value& value = leaves[i];
            const Value kept = read_cell(field, target.time, where);
            for (const Value& read : {*chosen, value})
                if (read.kind == Value::Kind::expr) keeping_[program_.statements.size()].push_back(read.id);
            assign(id_of_next, 0, evaluator_.arithmetic().select(*chosen, value, kept, where), where,
                   assignment.where);
        } else {
            assign(id_of_next, 0, leaves[i], where, assignment.where);
        }
        made.push_back(id_of_next);
        ir::Assign end;
        end.target = field;
        end.time = target.time;
        end.where = assignment.where;
        repeated.ends.push_back({end, id_of_next, chosen.has_value()});
    }
    for (std::uint32_t i = 0; i < made.size(); ++i)
        repeated.iterates.next[target.reference.first + i] = made[i];
}

void StencilAnalyzer::widen_halos_of_iterates() {
    const auto widen = [&](FieldId field, FieldId next) {
        auto& halo = program_.fields[field.index].halo;
        auto& of_next = program_.fields[next.index].halo;
        for (std::size_t axis = 0; axis < halo.size(); ++axis)
            for (std::size_t side = 0; side < 2; ++side)
                halo[axis][side] = of_next[axis][side] = std::max(halo[axis][side], of_next[axis][side]);
    };
    for (const auto& [id, repeated] : repeats_)
        for (const auto& [field, next] : repeated.iterates.next)
            widen(FieldId{field}, next);
    for (const auto& [field, next] : exchanged_)
        widen(field, next);
}

void StencilAnalyzer::end_repeat(syntax::GuardId id) {
    Repeated& repeated = repeats_.at(id.index);
    for (auto& [end, next, keeps] : repeated.ends) {
        end.value = read_cell(next, 0, end.where).id;
        if (keeps) keeping_[program_.statements.size()] = {end.value};
        program_.statements.emplace_back(end);
    }
    for (const Symbol* let : repeated.lets)
        evaluator_.forget_let(*let);
    std::uint32_t first_reduction = 0;
    for (std::size_t i = 0; i < repeated.first_statement; ++i)
        first_reduction += std::holds_alternative<ir::Reduce>(program_.statements[i]) ? 1 : 0;
    std::uint32_t past_reduction = first_reduction;
    for (std::size_t i = repeated.first_statement; i < program_.statements.size(); ++i) {
        ir::Statement& statement = program_.statements[i];
        const ir::Repeat repeat{repeated.number, repeated.count};
        if (auto* assign = std::get_if<ir::Assign>(&statement)) assign->repeat = repeat;
        if (auto* reduce = std::get_if<ir::Reduce>(&statement)) {
            reduce->repeat = repeat;
            ++past_reduction;
        }
    }
    if (file_[id].repeat->until) end_by_condition(id, first_reduction, past_reduction);
    refuse_own_reductions(repeated, first_reduction, past_reduction);
}

void StencilAnalyzer::end_by_condition(syntax::GuardId id, std::uint32_t first_reduction,
                                       std::uint32_t past_reduction) {
    const syntax::RepeatCount& written = *file_[id].repeat;
    const SourceRange where = evaluator_.where(*written.until);
    const Value condition = evaluator_.until(*written.until);
    if (condition.is_poison()) {
        has_poison_ = true;
        return;
    }
    ir::RepeatEnd end;
    end.repeat = repeats_.at(id.index).number;
    end.until = evaluator_.arithmetic().as(condition, ir::Scalar::boolean, where);
    end.text = written.until_text;
    end.where = where;
    const std::vector<ir::ReductionId> read = ir::reductions_of(program_, end);
    const bool may_change = std::ranges::any_of(read, [&](ir::ReductionId each) {
        return each.index >= first_reduction && each.index < past_reduction;
    });
    if (may_change) {
        program_.repeat_ends.push_back(std::move(end));
        return;
    }
    has_poison_ = true;
    sink_
        .report(DiagnosticKind::fixed_condition, where,
                "nothing in this `repeat` changes what its condition reads")
        .note(
            "a `reduce` among its statements shows how far an iteration came: "
            "`reduce change = max(abs(p[k+1] - p[k]))`");
}

// A statement would read what the iteration before has reduced. After its statement a reduction has the value
// of the iteration that is being done.
void StencilAnalyzer::refuse_own_reductions(const Repeated& repeated, std::uint32_t first_reduction,
                                            std::uint32_t past_reduction) {
    std::uint32_t found = first_reduction;  // the reductions whose statements stand before
    for (std::size_t i = repeated.first_statement; i < program_.statements.size(); ++i) {
        for (const std::uint32_t e : ir::reached_exprs(program_, ir::roots_of(program_.statements[i]))) {
            const auto* read = std::get_if<ir::ReductionRef>(&program_.exprs[e].node);
            if (read == nullptr || read->reduction.index < found || read->reduction.index >= past_reduction)
                continue;
            sink_
                .report(
                    DiagnosticKind::not_built_yet, program_.exprs[e].where,
                    "a `repeat` whose statements read what the iteration before has reduced is not built yet")
                .note("after its `reduce` a reduction has the value of this iteration: read it there");
            has_poison_ = true;
            return;
        }
        if (std::holds_alternative<ir::Reduce>(program_.statements[i])) ++found;
    }
}

}  // namespace halo::sema
