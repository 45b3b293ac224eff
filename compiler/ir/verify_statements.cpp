// What the statements of a step promise: what they read is there, and what they write is theirs to write.
#include <algorithm>
#include <set>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/ir/grids.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/print.h"
#include "compiler/ir/repeats.h"
#include "compiler/ir/sweeps.h"
#include "compiler/ir/verifier.h"
#include "runtime/core/launch_plan.h"

namespace halo::ir {

void Verifier::check_statements() {
    has_several_grids_ = has_coarse_grids(program_);
    written_.assign(program_.fields.size(), false);
    for (std::size_t i = 0, past_sweep = 0; i < program_.statements.size(); ++i) {
        if (i >= past_sweep) {
            past_sweep = end_of_sweep(program_, i);
            if (sweep_of(program_.statements[i]) != nullptr) check_sweep(i);
        }
        std::visit([&](const auto& alternative) { check_statement(alternative); }, program_.statements[i]);
    }
    check_repeats();
    check_repeat_ends();
    for (std::size_t i = 0; i < program_.fields.size(); ++i) {
        const Field& field = program_.fields[i];
        if (!written_[i] && field.role != Role::input)
            broken("{} {} is never written", name_of(field.role), field.name);
    }
}

// The statements of a repeat stand together, and agree how often they are done.
void Verifier::check_repeats() {
    std::set<int> seen;
    std::vector<Repeat> before;
    for (const Statement& statement : program_.statements) {
        const std::vector<Repeat>& repeats = repeats_of(statement);
        if (std::ssize(repeats) > rt::kMostNestedRepeats)
            broken("{} repeats are within each other", repeats.size());
        bool goes_on = true;  // with the repeats of the statement before
        for (std::size_t depth = 0; depth < repeats.size(); ++depth) {
            const Repeat& repeat = repeats[depth];
            goes_on = goes_on && depth < before.size() && before[depth].number == repeat.number;
            if (repeat.count < 1 || (goes_on && before[depth] != repeat))
                broken("a statement of repeat {} is done {} times", repeat.number, repeat.count);
            if (!goes_on && !seen.insert(repeat.number).second)
                broken("the statements of repeat {} do not stand together", repeat.number);
        }
        before = repeats;
    }
}

// A condition that ends a repeat is of one that there is, has one value, and reads what the repeat reduces.
void Verifier::check_repeat_ends() {
    for (const RepeatEnd& end : program_.repeat_ends) {
        if (end.until.index >= program_.exprs.size()) {
            broken("what ends repeat {} is no expression", end.repeat);
            continue;
        }
        if (program_[end.until].type != Scalar::boolean || !uniform_[end.until.index])
            broken("repeat {} ends by what is no condition", end.repeat);
        if (own_reductions_of(program_, end).empty())
            broken("repeat {} ends by what it does not change", end.repeat);
    }
}

// What its statements read of each other is there when it begins.
void Verifier::check_sweep(std::size_t first) {
    const auto& begin = std::get<Assign>(program_.statements[first]);
    if (begin.sweep->axis < 0 || begin.sweep->axis >= program_.rank()) return broken("a sweep along no axis");
    const std::optional<LineSweep::Inner>& inner = begin.sweep->inner;
    if (inner && (inner->axis < 0 || inner->axis >= program_.rank() || inner->axis == begin.sweep->axis ||
                  begin.sweep->in_parts))
        return broken("a sweep within another along no axis of its own, or in parts");
    const std::size_t past = end_of_sweep(program_, first);
    for (std::size_t i = first; i < past; ++i) {
        const auto& assign = std::get<Assign>(program_.statements[i]);
        if (assign.target.index >= program_.fields.size() || assign.value.index >= program_.exprs.size())
            return broken("a sweep of nothing");
        const Field& field = program_[assign.target];
        if (field.role == Role::intermediate) broken("let {} is given its cells by a sweep", field.name);
        if (assign.region != begin.region) broken("{} is swept over other cells", field.name);
        if (field.role == Role::state && !written_[assign.target.index] && is_partial(assign))
            broken("cells of {} that a sweep leaves out are given no value", field.name);
        for (std::size_t other = first; other < i; ++other)
            if (std::get<Assign>(program_.statements[other]).target == assign.target)
                broken("a sweep writes {} twice", field.name);
    }
    const auto is_written = [this](FieldId field) { return written_[field.index]; };
    if (const auto mistake = find_sweep_mistake(program_, first, is_written))
        broken("a sweep reads {} out of order",
               program_[std::get<Access>(program_[mistake->read].node).field].name);
    for (std::size_t i = first; i < past; ++i)
        written_[std::get<Assign>(program_.statements[i]).target.index] = true;
}

// A statement costs what it reaches and no more, so programs of many statements stay linear.
void Verifier::check_reads(ExprId root, const std::string& statement) {
    reached_by_.resize(program_.exprs.size(), 0);
    ++turn_;
    std::vector<ExprId> pending{root};
    while (!pending.empty()) {
        const ExprId id = pending.back();
        pending.pop_back();
        if (std::exchange(reached_by_[id.index], turn_) == turn_) continue;
        const Expr& expr = program_[id];
        for_each_operand(expr, [&](ExprId operand) { pending.push_back(operand); });
        const Access* access = std::get_if<Access>(&expr.node);
        if (!access || written_[access->field.index]) continue;
        const Field& field = program_[access->field];
        const bool made_in_step = field.role == Role::output || field.role == Role::intermediate;
        if (access->time == 1 || (access->time == 0 && made_in_step))
            broken("{} reads {} before it is written", statement, field.name);
    }
}

// A statement reads fields of other grids by the one map that there is between these.
void Verifier::check_maps(const Statement& statement, const std::string& what) {
    if (!has_several_grids_) return;
    const int factor = grid_factor(program_, statement);
    for (const std::uint32_t i : reached_exprs(program_, roots_of(statement))) {
        const auto* access = std::get_if<Access>(&program_.exprs[i].node);
        if (access == nullptr || access->field.index >= program_.fields.size()) continue;
        const Field& field = program_[access->field];
        if (map_of_reads(program_, factor, field) != access->map)
            broken("{} reads {} of another grid where it has no cell", what, field.name);
        for (int axis = 0; access->is_mapped() && axis < program_.rank(); ++axis)
            for (int side = 0; side < 2; ++side)
                if (past_faces(*access, axis)[static_cast<std::size_t>(side)] > 0 &&
                    field.boundary[axis][side].kind == BoundaryKind::free)
                    broken("{} reads {} of another grid past a free face", what, field.name);
    }
}

void Verifier::check_condition(const std::optional<ExprId>& condition, const std::string& statement) {
    if (!condition) return;
    if (condition->index >= program_.exprs.size())
        return broken("{} has a condition without expression", statement);
    check_reads(*condition, statement);
    if (type_of(*condition) != Scalar::boolean) broken("the condition of {} is no truth", statement);
}

void Verifier::check_statement(const Assign& assign) {
    if (assign.target.index >= program_.fields.size()) return broken("an assignment to no field");
    const Field& field = program_[assign.target];
    if (assign.value.index >= program_.exprs.size()) return broken("{} is given no expression", field.name);
    check_reads(assign.value, "the statement for " + field.name);
    check_maps(assign, "the statement for " + field.name);
    if (row_of_[assign.value.index] >= 0)
        broken("the statement for {} reads a table's row outside of a sum", field.name);
    if (field.role == Role::input) broken("input {} is written", field.name);
    if (assign.time != (field.role == Role::state ? 1 : 0))
        broken("{} {} is written at time {:+}", name_of(field.role), field.name, assign.time);
    if (type_of(assign.value) != field.type) broken("{} is given a value of another type", field.name);
    check_condition(assign.condition, "the statement for " + field.name);
    const bool chooses = !assign.region.is_whole() || assign.condition.has_value();
    if (field.role == Role::intermediate && (written_[assign.target.index] || chooses))
        broken("let {} is not given all its cells at once", field.name);
    const bool in_place = written_[assign.target.index] || (chooses && field.role == Role::output);
    if (in_place && read_of_written(program_, assign))
        broken("{} is changed in place, and may read cells that are written", field.name);
    written_[assign.target.index] = true;
    check_widths(assign.margins, "a margin of the statement for " + field.name);
}

void Verifier::check_statement(const Reduce& reduce) {
    if (reduce.value.index >= program_.exprs.size())
        return broken("reduction {} has no expression", reduce.name);
    check_reads(reduce.value, "reduction " + reduce.name);
    check_maps(reduce, "reduction " + reduce.name);
    if (row_of_[reduce.value.index] >= 0)
        broken("reduction {} reads a table's row outside of a sum", reduce.name);
    check_condition(reduce.condition, "reduction " + reduce.name);
    if (!is_number(type_of(reduce.value))) broken("reduction {} is not over numbers", reduce.name);
    if (reduce.square_root && reduce.op != ReduceOp::sum)
        broken("reduction {} takes the root of no sum", reduce.name);
    check_widths(reduce.margins, "a margin of reduction " + reduce.name);
    if (std::count(reductions_.begin(), reductions_.end(), reduce.name) != 0)
        broken("reduction {} is there twice", reduce.name);
    reductions_.push_back(reduce.name);
}

// What is read at points is read at the cell itself, is of no other points than those of `inject`, and is
// not what that adds to.
void Verifier::check_at_points(ExprId value, const std::string& what, const Inject* inject) {
    check_reads(value, what);
    const std::vector<bool> reached = reachable_exprs(program_, {value});
    for (std::size_t i = 0; i < reached.size(); ++i) {
        if (!reached[i]) continue;
        const Expr& expr = program_.exprs[i];
        const auto* access = std::get_if<Access>(&expr.node);
        if (access && !access->is_at_cell()) broken("{} reads beside its cell", what);
        if (access && inject && access->field == inject->target && access->time == inject->time)
            broken("{} reads what it adds to", what);
        if (std::holds_alternative<TableSum>(expr.node)) broken("{} sums over a table", what);
        const auto* column = std::get_if<PointColumn>(&expr.node);
        if (column && (!inject || column->points != inject->points))
            broken("{} reads numbers of other points", what);
    }
}

void Verifier::check_statement(const Inject& inject) {
    if (inject.target.index >= program_.fields.size() || inject.points.index >= program_.points.size() ||
        inject.value.index >= program_.exprs.size())
        return broken("an injection of nothing, into no field or at no points");
    const Field& field = program_[inject.target];
    const std::string what = "the injection into " + field.name;
    check_at_points(inject.value, what, &inject);
    if (field.grid.factor != 1) broken("{} is injected into, and lies on a coarser grid", field.name);
    if (!written_[inject.target.index]) broken("{} is injected into before it is written", field.name);
    if (inject.time != (field.role == Role::state ? 1 : 0) || field.role == Role::input)
        broken("{} is injected into at time {:+}", field.name, inject.time);
    if (type_of(inject.value) != field.type || !is_real(field.type))
        broken("{} is added a value of another type", field.name);
}

void Verifier::check_statement(const Sample& sample) {
    if (sample.points.index >= program_.points.size() || sample.value.index >= program_.exprs.size())
        return broken("a sample of nothing or at no points");
    const Points& points = program_[sample.points];
    check_at_points(sample.value, "a sample of " + points.name, nullptr);
    const bool exists = sample.trace >= 0 && std::cmp_less(sample.trace, points.traces.size());
    if (!exists || !points.traces[static_cast<std::size_t>(sample.trace)].sampled)
        broken("a sample of {} goes into no sampled trace", points.name);
    if (!is_real(type_of(sample.value))) broken("a sample of {} is no real number", points.name);
}

}  // namespace halo::ir
