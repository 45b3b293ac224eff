// What the stencils of a chain do, as the statements of one step. A stencil that is chained by `every` reads
// what the statements before have made of the step, and changes it in place:
//
//   u[t+1] = …                                          # of the first
//   let u.before = u[t+1]                               # where it reads neighbours of what it changes
//   where mod(step + 1, 10) == 0 { u[t+1] = … u.before … }
//
// A phase of its own reads what the step began with. The first stencil is done in its steps, too, and what it
// gives is overwritten: a condition there would be in the way of the steps before (ir/unread_steps.h).
#include <algorithm>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/step_choice.h"
#include "compiler/sema/chain_composer.h"
#include "compiler/support/error.h"

namespace halo::sema {

using ir::BinaryOp;
using ir::ExprId;
using ir::FieldId;
using ir::Role;
using ir::Scalar;

std::optional<ir::Program> composed(const ChainMember& first, const std::vector<ChainLink>& links,
                                    DiagnosticSink& sink) {
    ChainComposer composer(first, links, sink);
    if (!composer.declare()) return std::nullopt;
    composer.write();
    return composer.take();
}

void ChainComposer::write() {
    for (Part& part : parts_) {
        declare_lets(part);
        if (part.link == nullptr)
            write_first();
        else
            write_link(part);
    }
    infer();
}

// All that is not declared by name: lets, and what the compiler has added.
void ChainComposer::declare_lets(Part& part) {
    const ir::Program& program = part.program();
    std::vector<FieldId> added;
    for (std::uint32_t f = 0; f < program.fields.size(); ++f) {
        const ir::Field& field = program.fields[f];
        if (field.role != Role::intermediate && !ir::is_hidden(program, field)) continue;
        part.fields[f] = {static_cast<std::uint32_t>(out_.fields.size())};
        out_.fields.push_back(field);
        out_.fields.back().name = free_name(field.name, part);
        added.push_back({f});
    }
    for (const FieldId field : added)
        import_faces(part, field, part.fields[field.index], false);
    is_written_.resize(out_.fields.size());
}

std::string ChainComposer::free_name(const std::string& name, const Part& part) const {
    const auto is_taken = [&](const std::string& wanted) {
        return std::ranges::any_of(out_.fields, [&](const ir::Field& field) { return field.name == wanted; });
    };
    if (!is_taken(name)) return name;
    const std::string stem = name + "." + part.program().name;
    std::string result = stem;
    for (int number = 2; is_taken(result); ++number)
        result = stem + "_" + std::to_string(number);
    return result;
}

void ChainComposer::write_first() {
    const Part& first = parts_.front();
    const ir::Program& program = first.program();
    const Read read = [&](const ir::Access& access) {
        return builder_.access(first.fields[access.field.index], access.time, access.offset, access.map);
    };
    // What it reduces is known of its own phase alone.
    std::optional<ExprId> condition;
    if (first_end_)
        condition = condition_of({.begin = 0, .end = first_end_, .is_phase = true, .to = std::nullopt});
    for (const ir::Statement& statement : program.statements) {
        const bool reduces = std::holds_alternative<ir::Reduce>(statement);
        write_statement(first, statement, read, reduces ? condition : std::nullopt);
    }
    for (ir::RepeatEnd end : program.repeat_ends) {
        end.until = imported(first, end.until);
        out_.repeat_ends.push_back(std::move(end));
    }
}

void ChainComposer::write_link(Part& part) {
    const ir::Program& program = part.program();
    const ChainSteps& steps = part.link->steps;
    const std::optional<ExprId> condition = condition_of(steps);
    const std::vector<bool> was_written = is_written_;
    keep_states(part, condition);
    std::vector<std::optional<FieldId>> before(program.fields.size());
    const std::vector<bool> is_kept = states_to_keep_before(part);
    for (std::uint32_t f = 0; f < is_kept.size(); ++f) {
        if (!is_kept[f] || steps.is_phase || !was_written[part.fields[f].index]) continue;
        const FieldId shared = part.fields[f];
        ir::Field let = out_[shared];
        let.role = Role::intermediate;
        let.history = 0;
        let.unit.clear();
        let.storage = ir::natural_storage(let.type);
        let.name = free_name(let.name + ".before", part);
        before[f] = FieldId{static_cast<std::uint32_t>(out_.fields.size())};
        out_.fields.push_back(std::move(let));
        import_faces(part, {f}, *before[f], true);
        ir::Assign keep;
        keep.target = *before[f];
        keep.value = builder_.access(shared, 1, {});
        keep.where = part.link->where;
        out_.statements.emplace_back(keep);
    }
    is_written_.resize(out_.fields.size());
    const Read read = [&](const ir::Access& access) {
        const FieldId shared = part.fields[access.field.index];
        const bool is_changing =
            program[access.field].role != Role::intermediate && was_written[shared.index];
        if (steps.is_phase || !is_changing || access.time > 0)
            return builder_.access(shared, access.time, access.offset, access.map);
        if (access.time == 0 && before[access.field.index])
            return builder_.access(*before[access.field.index], 0, access.offset, access.map);
        return builder_.access(shared, access.time + 1, access.offset, access.map);
    };
    for (const ir::Statement& statement : program.statements)
        write_statement(part, statement, read, condition);
}

// A state that is assigned in some of the steps alone keeps its value in all others. In a phase of its own,
// so do those that the stencil does not give a value everywhere, whatever statements before have made of
// them.
void ChainComposer::keep_states(const Part& part, std::optional<ExprId> condition) {
    for (std::uint32_t f = 0; f < part.fields.size(); ++f) {
        const FieldId shared = part.fields[f];
        if (part.program().fields[f].role != Role::state || is_written_[shared.index]) continue;
        ir::Assign keep;
        keep.target = shared;
        keep.time = 1;
        keep.value = builder_.access(shared, 0, {});
        keep.where = part.link->where;
        out_.statements.emplace_back(keep);
        is_written_[shared.index] = true;
    }
    if (!part.link->steps.is_phase) return;
    for (std::uint32_t m = 0; m < out_.fields.size(); ++m) {
        if (!is_written_[m] || is_given_everywhere(part, {m})) continue;
        ir::Assign keep;
        keep.target = {m};
        keep.time = 1;
        keep.value = builder_.access({m}, 0, {});
        keep.condition = condition;
        keep.where = part.link->where;
        out_.statements.emplace_back(keep);
    }
}

bool ChainComposer::is_given_everywhere(const Part& part, FieldId state) const {
    for (const ir::Statement& statement : part.program().statements) {
        const auto* assign = std::get_if<ir::Assign>(&statement);
        if (assign != nullptr && part.fields[assign->target.index] == state) return !ir::is_partial(*assign);
    }
    return false;
}

// By field: whether what a state holds before the stencil changes it is read at other cells, or afterwards.
std::vector<bool> ChainComposer::states_to_keep_before(const Part& part) const {
    const ir::Program& program = part.program();
    std::vector<bool> result(program.fields.size()), has_changed(program.fields.size());
    for (const ir::Statement& statement : program.statements) {
        const auto* assign = std::get_if<ir::Assign>(&statement);
        for (const std::uint32_t e : ir::reached_exprs(program, ir::roots_of(statement))) {
            const auto* access = std::get_if<ir::Access>(&program.exprs[e].node);
            if (access == nullptr || access->time != 0) continue;
            const ir::Field& field = program[access->field];
            if (field.role != Role::state) continue;
            const bool changes =
                assign != nullptr && assign->target == access->field && !access->is_at_cell();
            if (changes || has_changed[access->field.index]) result[access->field.index] = true;
        }
        if (assign != nullptr) has_changed[assign->target.index] = true;
    }
    return result;
}

void ChainComposer::write_statement(const Part& part, const ir::Statement& statement, const Read& read,
                                    std::optional<ExprId> condition) {
    ir::Statement made = statement;
    std::visit([&](auto& node) { node.value = imported(part, node.value, read); }, made);
    if (auto* assign = std::get_if<ir::Assign>(&made)) {
        const bool is_let = part.program()[assign->target].role == Role::intermediate;
        if (assign->condition) assign->condition = imported(part, *assign->condition, read);
        assign->target = part.fields[assign->target.index];
        if (assign->time == 1) is_written_[assign->target.index] = true;
        if (condition && !is_let)
            assign->condition = assign->condition
                                    ? builder_.binary(BinaryOp::logical_and, *condition, *assign->condition)
                                    : *condition;
    } else if (auto* inject = std::get_if<ir::Inject>(&made)) {
        inject->target = part.fields[inject->target.index];
    } else if (auto* reduce = std::get_if<ir::Reduce>(&made)) {
        if (reduce->condition) reduce->condition = imported(part, *reduce->condition, read);
        // Where no cell is chosen there would be a number: in other steps all are.
        if (condition && reduce->condition)
            reduce->condition =
                builder_.binary(BinaryOp::logical_or, builder_.unary(ir::UnaryOp::logical_not, *condition),
                                *reduce->condition);
        if (condition) reduce->value = ir::number_in_some_steps(out_, builder_, *condition, reduce->value);
    }
    out_.statements.push_back(std::move(made));
}

// none: all steps.
std::optional<ExprId> ChainComposer::condition_of(const ChainSteps& steps) {
    std::optional<ExprId> result;
    const ir::Coordinate number{ir::CoordinateKind::step, 0};
    const ExprId step = builder_.add({Scalar::f64, number, SourceRange{}});
    const auto whole = [&](std::int64_t value) { return builder_.constant(Rational(value), Scalar::f64); };
    const auto need = [&](BinaryOp op, ExprId left, ExprId right) {
        const ExprId each = builder_.binary(op, left, right);
        result = result ? builder_.binary(BinaryOp::logical_and, *result, each) : each;
    };
    // After `from` steps of the phase, and then each `every`.
    const std::int64_t first = steps.is_phase ? steps.begin : steps.begin + steps.from - 1;
    if (!steps.is_phase && steps.every > 1) {
        const ExprId since = builder_.binary(BinaryOp::add, step, whole(steps.every - first % steps.every));
        const ExprId turns =
            builder_.call(ir::Function::floor, {builder_.binary(BinaryOp::div, since, whole(steps.every))});
        need(BinaryOp::equal, since, builder_.binary(BinaryOp::mul, turns, whole(steps.every)));
    }
    const bool is_implied = !steps.is_phase && steps.begin == 0 && steps.from <= steps.every;
    if (first > 0 && !is_implied) need(BinaryOp::greater_equal, step, whole(first));
    std::optional<std::int64_t> end = steps.end;
    if (steps.to) end = std::min(end.value_or(steps.begin + *steps.to), steps.begin + *steps.to);
    if (end) need(BinaryOp::less, step, whole(*end));
    return result;
}

// What each field's own stencil has found of halos and reaches holds, as that is what its ghosts are made
// for.
void ChainComposer::infer() {
    std::vector<ir::Field> found = out_.fields;
    ir::infer_halos(out_);
    const Part& first = parts_.front();
    for (std::uint32_t f = 0; f < first.fields.size(); ++f) {
        ir::Field& field = out_.fields[first.fields[f].index];
        for (std::size_t axis = 0; axis < ir::kMaxRank; ++axis)
            for (std::size_t side = 0; side < 2; ++side)
                field.halo[axis][side] =
                    std::max(field.halo[axis][side], first.program().fields[f].halo[axis][side]);
    }
    for (ir::Field& field : out_.fields) {
        for (std::size_t axis = 0; axis < ir::kMaxRank; ++axis) {
            for (std::size_t side = 0; side < 2; ++side) {
                ir::Face& face = field.boundary[axis][side];
                if (face.kind != ir::BoundaryKind::formula) continue;
                const auto width = static_cast<std::size_t>(field.halo[axis][side]);
                if (face.ghosts.size() < width)
                    throw InternalError("a chain reads further past a face than its stencils");
                face.ghosts.resize(width);
            }
        }
    }
    ir::infer_reaches(out_);
    for (std::size_t f = 0; f < found.size(); ++f)
        for (std::size_t axis = 0; axis < ir::kMaxRank; ++axis)
            for (std::size_t side = 0; side < 2; ++side) {
                int& reach = out_.fields[f].boundary[axis][side].reach;
                reach = std::max(reach, found[f].boundary[axis][side].reach);
            }
}

}  // namespace halo::sema
