#include "compiler/ir/unread_steps.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/repeats.h"
#include "compiler/ir/step_choice.h"
#include "compiler/ir/sweeps.h"

namespace halo::ir {

namespace {

std::optional<FieldId> target_of(const Statement& statement) {
    if (const auto* assign = std::get_if<Assign>(&statement)) return assign->target;
    if (const auto* inject = std::get_if<Inject>(&statement)) return inject->target;
    return std::nullopt;
}

// By statement: what has to hold in steps in which it does something, where the step's number decides that.
// The first statement for a state gives it its next level in all cells, those that are left out included. An
// output lasts where its first statement is for some steps alone; else the last step has all of it. Nor is an
// output left out that other steps read, as its halo is filled where it is written.
using ChoicesOfSteps = std::vector<std::optional<ExprId>>;

// Whether a statement that reads the field is done in other steps than those of the choice.
bool is_read_in_other_steps(const Program& program, ReachWalk& walk, const ChoicesOfSteps& choices,
                            FieldId field, ExprId choice) {
    for (std::size_t i = 0; i < choices.size(); ++i) {
        if (choices[i] == choice) continue;
        for (const std::uint32_t e : walk.from(roots_of(program.statements[i])))
            if (const auto* access = std::get_if<Access>(&program.exprs[e].node);
                access != nullptr && access->field == field)
                return true;
    }
    return false;
}

// Where one output is not left out after all, those that it reads may not be, either.
void keep_outputs_of_other_steps(const Program& program, ReachWalk& walk, ChoicesOfSteps& choices) {
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (std::size_t i = 0; i < choices.size(); ++i) {
            const std::optional<FieldId> target = target_of(program.statements[i]);
            if (!choices[i] || program[*target].role != Role::output ||
                !is_read_in_other_steps(program, walk, choices, *target, *choices[i]))
                continue;
            for (std::size_t each = 0; each < choices.size(); ++each)
                if (target_of(program.statements[each]) == target) choices[each].reset();
            has_changed = true;
        }
    }
}

ChoicesOfSteps choices_of_steps(const Program& program, ReachWalk& walk) {
    ChoicesOfSteps result(program.statements.size());
    std::map<std::uint32_t, bool> is_chosen;  // of what has been written: whether by its first statement
    for (std::size_t i = 0; i < result.size(); ++i) {
        const std::optional<FieldId> target = target_of(program.statements[i]);
        if (!target) continue;
        const auto* assign = std::get_if<Assign>(&program.statements[i]);
        std::optional<ExprId> choice;
        if (assign != nullptr && assign->condition && !assign->sweep && assign->repeats.empty())
            choice = choice_of_steps(program, walk, *assign->condition);
        const bool is_output = program[*target].role == Role::output;
        const auto [first, is_first] = is_chosen.emplace(target->index, is_output && choice.has_value());
        const bool is_left_out =
            is_output ? first->second : program[*target].role == Role::state && !is_first;
        if (is_left_out) result[i] = choice;
    }
    keep_outputs_of_other_steps(program, walk, result);
    return result;
}

class UnreadStep {
public:
    UnreadStep(const Program& program, const std::vector<bool>& also)
        : program_(program),
          walk_(program),
          choices_(choices_of_steps(program, walk_)),
          kept_(also),
          fields_(program.fields.size()),
          reductions_(program.statements.size()) {
        kept_.resize(program.statements.size());
        for (std::size_t i = 0; i < program.statements.size(); ++i)
            if (std::holds_alternative<Reduce>(program.statements[i])) statement_of_.push_back(i);
    }

    std::vector<bool> find() {
        find_lasting_fields();
        find_lasting_reductions();
        find_reductions_of_conditions();
        // What a statement reads of its own step is written before it.
        for (std::size_t past = kept_.size(); past > 0;) {
            const std::size_t first = first_of_repeat(program_, past - 1);
            // In a repeat earlier statements read what later ones gave the time before. Those within each
            // other are looked at as a whole.
            while (find_backwards(first, past) && repeat_of(program_.statements[first]) != nullptr) {
            }
            past = first;
        }
        return kept_;
    }

private:
    // Whether something has been added. A sweep is looked at as a whole.
    bool find_backwards(std::size_t begin, std::size_t past) {
        bool has_grown = false;
        while (past > begin) {
            const std::size_t first = first_of_sweep(program_, past - 1);
            // The statements of a sweep read each other's cells, earlier ones those of later ones, too.
            bool is_needed = false;
            for (std::size_t i = first; i < past; ++i)
                is_needed = is_needed || kept_[i] || has_result(i);
            for (std::size_t i = first; i < past && is_needed; ++i) {
                has_grown = has_grown || !kept_[i];
                kept_[i] = true;
                need_reads(i);
            }
            past = first;
        }
        return has_grown;
    }

    // Whether something that is read later or by a later statement comes of it.
    bool has_result(std::size_t statement) const {
        if (choices_[statement]) return false;
        const std::optional<FieldId> target = target_of(program_.statements[statement]);
        return reductions_[statement] || (target && fields_[target->index]) ||
               std::holds_alternative<Sample>(program_.statements[statement]);
    }

    void need_reads(std::size_t statement) {
        for (const std::uint32_t e : walk_.from(roots_of(program_.statements[statement]))) {
            if (const auto* access = std::get_if<Access>(&program_.exprs[e].node))
                fields_[access->field.index] = true;
            if (const auto* read = std::get_if<ReductionRef>(&program_.exprs[e].node))
                reductions_[statement_of_[read->reduction.index]] = true;
        }
    }

    // Inputs and params stay as they are while steps follow each other, and so do the cells that such a
    // condition chooses.
    bool chooses_the_same_cells(const Assign& assign) {
        if (!assign.condition) return true;
        return std::ranges::none_of(walk_.from({*assign.condition}), [&](std::uint32_t e) {
            const auto& node = program_.exprs[e].node;
            const auto* access = std::get_if<Access>(&node);
            const auto* coordinate = std::get_if<Coordinate>(&node);
            return (access && program_[access->field].role != Role::input) ||
                   (coordinate && coordinate->kind == CoordinateKind::step) ||
                   std::holds_alternative<Noise>(node) || std::holds_alternative<ReductionRef>(node) ||
                   std::holds_alternative<SeriesValue>(node);
        });
    }

    bool reads_its_target(const Assign& assign) {
        return std::ranges::any_of(walk_.from(roots_of(Statement(assign))), [&](std::uint32_t e) {
            const auto* access = std::get_if<Access>(&program_.exprs[e].node);
            return access && access->field == assign.target;
        });
    }

    // Whether cells of an output may show what an earlier step found.
    bool lasts(FieldId output) {
        if (program_[output].history > 0) return true;
        const Assign* first = nullptr;
        for (const Statement& statement : program_.statements) {
            if (target_of(statement) != output) continue;
            if (first != nullptr) {  // changes in place cells that the first has left alone, perhaps
                if (is_partial(*first)) return true;
                continue;
            }
            first = std::get_if<Assign>(&statement);
            if (first == nullptr || !chooses_the_same_cells(*first)) return true;
            if (!first->repeats.empty() && is_partial(*first)) return true;
            // A sweep over all cells reads what it has computed itself.
            const bool is_whole_sweep = first->sweep && !is_partial(*first);
            if (!is_whole_sweep && reads_its_target(*first)) return true;
        }
        return false;
    }

    void find_lasting_fields() {
        for (std::uint32_t f = 0; f < fields_.size(); ++f) {
            const Role role = program_.fields[f].role;
            fields_[f] = role == Role::state || (role == Role::output && lasts(FieldId{f}));
        }
    }

    // A statement before a reduction reads its value of the step before, and so may what lies past a face.
    void find_lasting_reductions() {
        const auto last_of_step_before = [&](const std::vector<ExprId>& roots, std::size_t reader) {
            for (const std::uint32_t e : walk_.from(roots)) {
                const auto* read = std::get_if<ReductionRef>(&program_.exprs[e].node);
                if (read == nullptr) continue;
                const std::size_t statement = statement_of_[read->reduction.index];
                if (statement >= reader) reductions_[statement] = true;
            }
        };
        for (std::size_t i = 0; i < kept_.size(); ++i)
            last_of_step_before(roots_of(program_.statements[i]), i);
        for (const Field& field : program_.fields)
            for (const auto& faces : field.boundary)
                for (const Face& face : faces) {
                    if (face.kind == BoundaryKind::fixed) last_of_step_before({face.value}, 0);
                    last_of_step_before(face.ghosts, 0);
                }
    }

    // How many iterations are done must not depend on who reads the step.
    void find_reductions_of_conditions() {
        for (const RepeatEnd& end : program_.repeat_ends)
            for (const ReductionId read : reductions_of(program_, end))
                reductions_[statement_of_[read.index]] = true;
    }

    const Program& program_;
    ReachWalk walk_;
    const ChoicesOfSteps choices_;
    std::vector<bool> kept_;                 // by statement
    std::vector<bool> fields_;               // that are read
    std::vector<bool> reductions_;           // that are read, by statement
    std::vector<std::size_t> statement_of_;  // by ReductionId
};

}  // namespace

std::vector<bool> needed_in_unread_steps(const Program& program, const std::vector<bool>& also) {
    return UnreadStep(program, also).find();
}

std::vector<ExprId> conditions_of_steps(const Program& program) {
    ReachWalk walk(program);
    std::vector<ExprId> conditions;
    for (const std::optional<ExprId>& choice : choices_of_steps(program, walk))
        if (choice && std::ranges::find(conditions, *choice) == conditions.end())
            conditions.push_back(*choice);
    return conditions;
}

std::vector<bool> done_in_unread_steps(const Program& program) {
    std::vector<bool> done = needed_in_unread_steps(program);
    if (std::ranges::find(done, true) == done.end()) done.assign(done.size(), true);
    return done;
}

std::vector<std::string> left_out_of_unread_steps(const Program& program) {
    const std::vector<bool> done = done_in_unread_steps(program);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < done.size(); ++i) {
        if (done[i]) continue;
        const Statement& statement = program.statements[i];
        const std::optional<FieldId> target = target_of(statement);
        if (target && program[*target].role != Role::output) continue;
        const std::string& name = target ? program[*target].name : std::get<Reduce>(statement).name;
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return names;
}

}  // namespace halo::ir
