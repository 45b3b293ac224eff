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
    std::optional<syntax::GuardId> innermost;
    for (const syntax::GuardId id : guards)
        if (file_[id].repeat) innermost = id;
    return innermost;
}

std::optional<syntax::GuardId> StencilAnalyzer::repeat_of_statement(
    const syntax::StencilStatement& statement) const {
    if (const auto* assignment = std::get_if<syntax::Assignment>(&statement))
        return repeat_around(assignment->guards);
    if (const auto* reduce = std::get_if<syntax::ReduceDecl>(&statement))
        return repeat_around(reduce->guards);
    if (const auto* solve = std::get_if<syntax::SolveStatement>(&statement)) return solve->repeat;
    const auto* let = std::get_if<syntax::LetDecl>(&statement);
    if (let == nullptr) return std::nullopt;
    return let->repeat ? let->repeat : repeat_around(let->guards);
}

void StencilAnalyzer::see_levels_of(std::optional<syntax::GuardId> repeat) {
    std::vector<const Iterates*> levels;
    for (const syntax::GuardId id : file_.repeats_to(repeat)) {
        Repeated& repeated = repeats_[id.index];
        const std::optional<syntax::Name>& level = file_[id].repeat->level;
        if (!level) continue;
        repeated.iterates.name = level->text;
        levels.insert(levels.begin(), &repeated.iterates);
    }
    evaluator_.set_iterates(std::move(levels));
}

void StencilAnalyzer::note_repeated(syntax::GuardId id, Target& target,
                                    const syntax::Assignment& assignment) {
    const std::uint32_t first = target.reference.first;
    const auto leaves = static_cast<std::uint32_t>(target.reference.shape->leaves());
    const std::vector<syntax::GuardId> repeats = file_.repeats_to(id);
    const bool has_guards = assignment.guards.size() > repeats.size();
    Repeated::Written written;
    written.first = first;
    written.leaves = leaves;
    written.is_iterate = target.is_iterate;
    written.is_guarded = has_guards && !sweep_around(assignment.guards);
    written.where = evaluator_.where(assignment.target);
    written.name = target.reference.name;
    for (const syntax::GuardId each : repeats) {
        written.is_inner = each != id;
        repeats_[each.index].targets.push_back(written);
    }
    if (!target.is_iterate) return;
    for (std::uint32_t i = 0; i < leaves; ++i)
        repeats_[id.index].iterates.written.insert(first + i);
}

// The next iteration goes on with what is found in this one.
void StencilAnalyzer::note_solved(syntax::GuardId id, const Target& target, SourceRange where) {
    if (target.time == 0) return;
    Repeated::Written written;
    written.first = target.reference.first;
    written.leaves = static_cast<std::uint32_t>(target.reference.shape->leaves());
    written.is_guarded = written.is_solved = true;
    written.where = where;
    written.name = target.reference.name;
    for (const syntax::GuardId each : file_.repeats_to(id)) {
        written.is_inner = each != id;
        repeats_[each.index].targets.push_back(written);
    }
}

void StencilAnalyzer::refuse_outer_level(const Iterates& level, const std::string& field, SourceRange where) {
    sink_
        .report(DiagnosticKind::time_level, where,
                fmt::format("`{0}[{1}+1]` is written within a `repeat` that stands in that of `{1}`", field,
                            level.name))
        .note(fmt::format("write it after that block, among the statements of the `repeat` of `{}`",
                          level.name));
}

bool StencilAnalyzer::has_other_levels(syntax::GuardId id, const Target& target, SourceRange where) {
    const std::uint32_t first = target.reference.first;
    const auto past = first + static_cast<std::uint32_t>(target.reference.shape->leaves());
    const auto iterates_it = [&](const Repeated::Written& each) {
        return each.is_iterate && each.first < past && first < each.first + each.leaves;
    };
    const auto refuse = [&](syntax::GuardId outer) {
        const std::string level = file_[outer].repeat->level ? file_[outer].repeat->level->text : "";
        sink_
            .report(DiagnosticKind::time_level, where,
                    fmt::format("`{0}` has levels of `{1}`, and of a `repeat` within it",
                                target.reference.name, level))
            .note(fmt::format("iterate another field there, which begins as `{}[{}]`", target.reference.name,
                              level));
        return true;
    };
    for (const syntax::GuardId outer : file_.repeats_to(file_[id].repeat->around)) {
        const auto& written = repeats_[outer.index].iterates.written;
        for (std::uint32_t field = first; field < past; ++field)
            if (written.contains(field)) return refuse(outer);
    }
    const auto is_inner = [&](const Repeated::Written& each) { return each.is_inner && iterates_it(each); };
    return std::ranges::any_of(repeats_[id.index].targets, is_inner) && refuse(id);
}

void StencilAnalyzer::note_misread(syntax::GuardId id, syntax::ExprId target) {
    const auto* name = std::get_if<syntax::NameUse>(&base_of(file_[target]).node);
    for (const syntax::GuardId each : file_.repeats_to(id))
        if (name != nullptr) repeats_[each.index].iterates.misread.insert(name->name);
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
    const std::vector<syntax::GuardId> path = file_.repeats_to(repeat);
    if (path == current_repeats_) return;
    const auto common = std::ranges::mismatch(path, current_repeats_).in1 - path.begin();
    while (std::ssize(current_repeats_) > common) {
        end_repeat(current_repeats_.back());
        current_repeats_.pop_back();
    }
    see_levels_of(repeat);
    for (auto id = path.begin() + common; id != path.end(); ++id) {
        begin_repeat(*id);
        current_repeats_.push_back(*id);
    }
}

std::uint32_t StencilAnalyzer::count_reductions() const {
    return static_cast<std::uint32_t>(std::ranges::count_if(
        program_.statements, [](const auto& each) { return std::holds_alternative<ir::Reduce>(each); }));
}

void StencilAnalyzer::begin_repeat(syntax::GuardId id) {
    Repeated& repeated = repeats_[id.index];
    const syntax::RepeatCount& written = *file_[id].repeat;
    repeated.number = repeat_count_++;
    if (const auto count =
            evaluator_.integer(written.count, "the number of iterations", 1, rt::kMostIterations))
        repeated.count = *count;
    if (written.level) check_level_name(*written.level);
    keep_before_repeat(repeated);
    repeated.first_statement = program_.statements.size();
    repeated.first_reduction = count_reductions();
}

// Of what the block changes: before the first iteration it is what it was. What a block within this one
// iterates may be assigned before that.
void StencilAnalyzer::keep_before_repeat(const Repeated& repeated) {
    for (const Repeated::Written& each : repeated.targets) {
        const bool changes = each.is_iterate || each.is_guarded;
        for (std::uint32_t field = each.first; field < each.first + each.leaves; ++field) {
            FieldInfo& info = evaluator_.fields()[field];
            const bool is_state = program_.fields[field].role == Role::state;
            if (info.written || !changes) continue;
            if (each.is_inner && !is_state) continue;
            if (is_state) {
                ir::Assign keep;
                keep.target = FieldId{field};
                keep.time = 1;
                keep.value = read_cell(keep.target, 0, each.where).id;
                keep.where = each.where;
                program_.statements.emplace_back(keep);
                info.kept = true;
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
}

void StencilAnalyzer::check_times_in_step(syntax::GuardId outermost) {
    for (std::size_t i = repeats_.at(outermost.index).first_statement; i < program_.statements.size(); ++i) {
        std::int64_t times = 1;
        for (const ir::Repeat& repeat : ir::repeats_of(program_.statements[i])) {
            if (repeat.count <= rt::kMostTimesInStep / times) {
                times *= repeat.count;
                continue;
            }
            has_poison_ = true;
            sink_.report(DiagnosticKind::out_of_range, file_[outermost].where,
                         fmt::format("blocks within each other do this more than {} times in a step",
                                     rt::kMostTimesInStep));
            return;
        }
    }
}

Value StencilAnalyzer::read_cell(FieldId field, int time, SourceRange where) {
    return evaluator_.arithmetic().leaf(program_[field].type, ir::Access{field, time, {}}, false, where);
}

void StencilAnalyzer::check_level_name(const syntax::Name& level) {
    for (const syntax::GuardId outer : current_repeats_) {
        const std::optional<syntax::Name>& other = file_[outer].repeat->level;
        if (!other || other->text != level.text) continue;
        sink_
            .report(DiagnosticKind::duplicate_name, level.where,
                    fmt::format("the iteration of a `repeat` around this one is called `{}`", level.text))
            .label(other->where, "declared here");
        return;
    }
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
        return !each.is_solved && each.first < target.reference.first + leaves.size() &&
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
    repeated.past_reduction = count_reductions();
    for (std::size_t i = repeated.first_statement; i < program_.statements.size(); ++i) {
        ir::Statement& statement = program_.statements[i];
        const ir::Repeat repeat{repeated.number, repeated.count};
        if (auto* assign = std::get_if<ir::Assign>(&statement))
            assign->repeats.insert(assign->repeats.begin(), repeat);
        if (auto* reduce = std::get_if<ir::Reduce>(&statement))
            reduce->repeats.insert(reduce->repeats.begin(), repeat);
    }
    if (file_[id].repeat->until) end_by_condition(id);
    if (file_[id].repeat->around) return;
    check_times_in_step(id);
    refuse_early_reads(repeated);
}

void StencilAnalyzer::end_by_condition(syntax::GuardId id) {
    const syntax::RepeatCount& written = *file_[id].repeat;
    const SourceRange where = evaluator_.where(*written.until);
    const Value condition = evaluator_.until(*written.until);
    if (condition.is_poison()) {
        has_poison_ = true;
        return;
    }
    const Repeated& repeated = repeats_.at(id.index);
    ir::RepeatEnd end;
    end.repeat = repeated.number;
    end.until = evaluator_.arithmetic().as(condition, ir::Scalar::boolean, where);
    end.text = written.until_text;
    end.where = where;
    const std::vector<ir::ReductionId> read = ir::reductions_of(program_, end);
    const bool may_change = std::ranges::any_of(read, [&](ir::ReductionId each) {
        return each.index >= repeated.first_reduction && each.index < repeated.past_reduction;
    });
    if (may_change) {
        const auto after =
            std::ranges::upper_bound(program_.repeat_ends, end.repeat, {}, &ir::RepeatEnd::repeat);
        program_.repeat_ends.insert(after, std::move(end));
        return;
    }
    if (std::exchange(has_poison_, true)) return;
    sink_
        .report(DiagnosticKind::fixed_condition, where,
                "nothing in this `repeat` changes what its condition reads")
        .note(
            "a `reduce` among its statements shows how far an iteration came: "
            "`reduce change = max(abs(p[k+1] - p[k]))`");
}

// A statement, or a condition of a block within this one, would read what the iteration before has reduced.
// After its statement a reduction has the value of the iteration that is being done.
void StencilAnalyzer::refuse_early_reads(const Repeated& outermost) {
    std::uint32_t found = outermost.first_reduction;  // the reductions whose statements stand before
    for (std::size_t i = outermost.first_statement; i < program_.statements.size(); ++i) {
        if (refuse_early_read(ir::roots_of(program_.statements[i]), found, outermost.past_reduction)) return;
        if (std::holds_alternative<ir::Reduce>(program_.statements[i])) ++found;
    }
    for (const ir::RepeatEnd& end : program_.repeat_ends) {
        if (end.repeat <= outermost.number) continue;
        found = outermost.first_reduction;
        std::uint32_t past = found;
        for (std::size_t i = outermost.first_statement; i < program_.statements.size(); ++i) {
            if (std::holds_alternative<ir::Reduce>(program_.statements[i])) ++past;
            if (ir::is_within(program_.statements[i], end.repeat)) found = past;
        }
        if (refuse_early_read({end.until}, found, outermost.past_reduction)) return;
    }
}

bool StencilAnalyzer::refuse_early_read(const std::vector<ir::ExprId>& roots, std::uint32_t found,
                                        std::uint32_t past) {
    for (const std::uint32_t e : ir::reached_exprs(program_, roots)) {
        const auto* read = std::get_if<ir::ReductionRef>(&program_.exprs[e].node);
        if (read == nullptr || read->reduction.index < found || read->reduction.index >= past) continue;
        sink_
            .report(DiagnosticKind::not_built_yet, program_.exprs[e].where,
                    "a `repeat` whose statements read what the iteration before has reduced is not built yet")
            .note("after its `reduce` a reduction has the value of this iteration: read it there");
        has_poison_ = true;
        return true;
    }
    return false;
}

}  // namespace halo::sema
