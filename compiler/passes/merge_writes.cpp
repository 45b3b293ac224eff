#include "compiler/passes/merge_writes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/rewrite.h"
#include "compiler/ir/step_choice.h"
#include "compiler/passes/rebuild.h"

namespace halo::passes {

using namespace ir;

namespace {

// Choices within each other: compilers of C++ take so many, and the work for each statement stays bounded.
constexpr int kMostMerged = 16;

using LevelId = std::pair<std::uint32_t, int>;                // field, time
using Writers = std::map<LevelId, std::vector<std::size_t>>;  // statements, in order

std::optional<LevelId> level_written_by(const Statement& statement) {
    if (const auto* assign = std::get_if<Assign>(&statement))
        return LevelId{assign->target.index, assign->time};
    if (const auto* inject = std::get_if<Inject>(&statement))
        return LevelId{inject->target.index, inject->time};
    return std::nullopt;
}

// Of the levels that several statements write.
Writers find_writers(const Program& program) {
    Writers writers;
    for (std::size_t index = 0; index < program.statements.size(); ++index)
        if (const std::optional<LevelId> level = level_written_by(program.statements[index]))
            writers[*level].push_back(index);
    std::erase_if(writers, [](const auto& entry) { return entry.second.size() < 2; });
    return writers;
}

class Merger {
public:
    Merger(Program& program, Writers writers)
        : program_(program),
          builder_(program),
          writers_(std::move(writers)),
          notes_(program.statements.size()) {
        // Looking at a statement costs what it reaches: only those are looked at that may matter.
        ReachWalk walk(program);
        for (const auto& [level, statements] : writers_)
            for (std::size_t index = statements.front(); index <= statements.back(); ++index)
                if (!notes_[index].is_known) notes_[index] = note(index, walk);
    }

    // Returns whether something has changed.
    bool run() {
        bool changed = false;
        for (const auto& [level, statements] : writers_)
            changed = merge_level(level, statements) || changed;
        std::vector<Statement> kept;
        for (std::size_t index = 0; index < notes_.size(); ++index)
            if (!notes_[index].is_gone) kept.push_back(std::move(program_.statements[index]));
        program_.statements = std::move(kept);
        return changed;
    }

private:
    struct Note {
        bool is_known = false;
        std::optional<LevelId> written;
        std::set<LevelId> read;
        bool is_whole = false;       // all of it can be part of another
        bool has_its_cells = false;  // and so it can of one for the same cells, which are known before
        bool reads_beside = false;   // what it writes, at a neighbour
        bool is_of_some_steps =
            false;             // others leave it out (ir/unread_steps.h), where it is no part of another
        bool is_gone = false;  // it is part of another
    };

    Note note(std::size_t index, ReachWalk& walk) const {
        const Statement& statement = program_.statements[index];
        const auto* assign = std::get_if<Assign>(&statement);
        Note found;
        found.is_known = true;
        found.written = level_written_by(statement);
        const bool is_plain = assign != nullptr && !assign->sweep && assign->repeats.empty();
        found.is_whole = is_plain && assign->region.is_whole() && assign->margins == Margins{};
        found.has_its_cells = is_plain && margins_within(assign->region, assign->margins) == Margins{} &&
                              (!assign->condition || reads_inputs_alone(*assign->condition));
        found.is_of_some_steps =
            assign != nullptr && assign->condition && choice_of_steps(program_, walk, *assign->condition);
        for (const std::uint32_t reached : reached_exprs(program_, roots_of(statement))) {
            const Expr& expr = program_.exprs[reached];
            const bool has_sum = std::holds_alternative<TableSum>(expr.node);
            found.is_whole = found.is_whole && !has_sum;
            found.has_its_cells = found.has_its_cells && !has_sum;
            const auto* access = std::get_if<Access>(&expr.node);
            if (access == nullptr) continue;
            const LevelId level{access->field.index, access->time};
            found.read.insert(level);
            found.reads_beside = found.reads_beside || (level == found.written && !access->is_at_cell());
        }
        return found;
    }

    bool reads_inputs_alone(ExprId condition) const {
        return std::ranges::all_of(reached_exprs(program_, {condition}), [&](std::uint32_t reached) {
            const auto* access = std::get_if<Access>(&program_.exprs[reached].node);
            return access == nullptr || program_[access->field].role == Role::input;
        });
    }

    bool merge_level(const LevelId& level, const std::vector<std::size_t>& writers) {
        const Field& field = program_[FieldId{level.first}];
        if (field.storage != natural_storage(field.type)) return false;
        if (field.role == Role::state) return merge_whole(level, writers);
        return field.role == Role::output && merge_same_cells(level, writers);
    }

    // Of an output, statements for the same cells, one after the other.
    bool merge_same_cells(const LevelId& level, const std::vector<std::size_t>& writers) {
        bool changed = false;
        int merged = 0;
        for (std::size_t number = 0; number + 1 < writers.size(); ++number) {
            const std::size_t earlier = writers[number], later = writers[number + 1];
            if (merged >= kMostMerged || !are_for_same_cells(earlier, later) || notes_[later].reads_beside ||
                notes_[later].is_of_some_steps || is_used_between(level, earlier, later)) {
                merged = 0;
                continue;
            }
            const ExprId given = std::get<Assign>(program_.statements[earlier]).value;
            replace_reads(program_, builder_, program_.statements[later], FieldId{level.first}, level.second,
                          [&](const Access&) { return given; });
            join_notes(earlier, later, level);
            ++merged;
            changed = true;
        }
        return changed;
    }
    bool are_for_same_cells(std::size_t a, std::size_t b) const {
        if (!notes_[a].has_its_cells || !notes_[b].has_its_cells || !are_for_same_steps(a, b)) return false;
        const auto &first = std::get<Assign>(program_.statements[a]),
                   &second = std::get<Assign>(program_.statements[b]);
        return first.region == second.region && first.condition == second.condition;
    }

    bool are_for_same_steps(std::size_t a, std::size_t b) const {
        return std::get<Assign>(program_.statements[a]).within ==
               std::get<Assign>(program_.statements[b]).within;
    }

    // The first statement gives every cell a value, so it alone can become part of the one after it.
    bool merge_whole(const LevelId& level, const std::vector<std::size_t>& writers) {
        const FieldId target{level.first};
        std::size_t merged = 0;
        while (merged + 1 < writers.size() && merged < kMostMerged && can_merge(target, writers, merged)) {
            merge(target, writers[merged], writers[merged + 1]);
            ++merged;
        }
        return merged > 0;
    }

    bool can_merge(FieldId target, const std::vector<std::size_t>& writers, std::size_t number) const {
        const std::size_t earlier = writers[number], later = writers[number + 1];
        const LevelId level{target.index, 1};
        if (!notes_[earlier].is_whole || !notes_[later].is_whole || notes_[later].is_of_some_steps ||
            !are_for_same_steps(earlier, later))
            return false;
        if (is_used_between(level, earlier, later)) return false;
        return !notes_[later].reads_beside || (writers.size() == 2 && can_have_let(program_, target));
    }

    // The earlier is to read at the place of the later what it read, and nobody may see its result between.
    bool is_used_between(const LevelId& level, std::size_t earlier, std::size_t later) const {
        for (std::size_t between = earlier + 1; between < later; ++between) {
            const Note& other = notes_[between];
            if (other.is_gone) continue;
            if (other.read.contains(level) ||
                (other.written && notes_[earlier].read.contains(*other.written)))
                return true;
        }
        return false;
    }

    // Makes the earlier of two statements part of the later.
    void merge(FieldId target, std::size_t earlier, std::size_t later) {
        const bool has_let = notes_[later].reads_beside;
        const Assign first = std::get<Assign>(program_.statements[earlier]);
        const ExprId given = with_rest(first, builder_.access(target, 0, Offset{}));
        const FieldId before = has_let ? add_let_like(program_, target, "_before") : target;
        Statement& merged = program_.statements[later];
        replace_reads(program_, builder_, merged, target, 1, [&](const Access& access) {
            return has_let ? builder_.access(before, 0, access.offset) : given;
        });
        auto& all = std::get<Assign>(merged);
        all.value = with_rest(all, has_let ? builder_.access(before, 0, Offset{}) : given);
        all.condition.reset();
        if (has_let) {
            auto& let = std::get<Assign>(program_.statements[earlier]);
            let.target = before;
            let.time = 0;
            let.value = given;
            let.condition.reset();
            return;
        }
        join_notes(earlier, later, {target.index, 1});
        notes_[later].read.emplace(target.index, 0);
    }
    void join_notes(std::size_t earlier, std::size_t later, const LevelId& level) {
        notes_[later].read.erase(level);
        notes_[later].read.insert(notes_[earlier].read.begin(), notes_[earlier].read.end());
        notes_[earlier].is_gone = true;
    }

    // What the statement gives each cell, with `rest` where its condition is false.
    ExprId with_rest(const Assign& assign, ExprId rest) {
        return assign.condition ? builder_.select(*assign.condition, assign.value, rest) : assign.value;
    }

    Program& program_;
    ExprBuilder builder_;
    Writers writers_;
    std::vector<Note> notes_;  // by statement
};

}  // namespace

void merge_writes(Program& program) {
    Writers writers = find_writers(program);
    if (!writers.empty() && Merger(program, std::move(writers)).run()) prune(program);
}

}  // namespace halo::passes
