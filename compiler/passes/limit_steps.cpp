#include "compiler/passes/limit_steps.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/repeats.h"
#include "compiler/ir/step_choice.h"
#include "compiler/ir/sweeps.h"
#include "compiler/passes/rebuild.h"

namespace halo::passes {

using namespace ir;
using rt::StepRange;

namespace {

// What a condition says of the steps in which a statement does something.
struct Limit {
    StepRange range;                // in no others
    std::optional<ExprId> implied;  // the part of the condition that holds in all of them
};

bool is_within(const StepRange& inner, const StepRange& outer) {
    return rt::common(inner, outer) == inner;
}

bool is_let(const Program& program, const Statement& statement) {
    const auto* assign = std::get_if<Assign>(&statement);
    return assign != nullptr && program[assign->target].role == Role::intermediate;
}

class StepLimiter {
public:
    explicit StepLimiter(Program& program) : program_(program) {
        ReachWalk walk(program);
        std::set<std::uint32_t> written;
        for (const Statement& statement : program.statements) {
            limits_.push_back(limit_of(statement, walk));
            // The first statement for a state gives it its next level, where its condition is false, too.
            const auto* assign = std::get_if<Assign>(&statement);
            if (assign != nullptr && program[assign->target].role == Role::state &&
                written.insert(assign->target.index).second)
                limits_.back() = {};
        }
    }

    void run() {
        const auto begins_later = [](const Limit& limit) { return limit.implied && limit.range.first > 0; };
        if (std::ranges::none_of(limits_, begins_later)) return;
        find_reads();
        keep_outputs_that_others_read();
        const std::vector<std::int64_t> begins = begins_of_intervals();
        std::vector<std::optional<StepRange>> within(limits_.size());
        for (std::size_t i = 0; i < begins.size(); ++i) {
            const StepRange interval{begins[i], i + 1 < begins.size() ? begins[i + 1] : StepRange::kNoEnd};
            const std::vector<bool> needed = needed_in(interval);
            for (std::size_t s = 0; s < needed.size(); ++s)
                if (needed[s]) within[s] = within[s] ? rt::hull(*within[s], interval) : interval;
        }
        if (throws_nothing_away(within)) return;
        for (std::size_t s = 0; s < within.size(); ++s)
            if (within[s])
                std::visit([&](auto& node) { limit(node, *within[s], limits_[s]); }, program_.statements[s]);
        prune(program_);
    }

private:
    Limit limit_of(const Statement& statement, ReachWalk& walk) const {
        std::optional<ExprId> choice;
        if (const auto* assign = std::get_if<Assign>(&statement); assign && assign->condition)
            choice = choice_of_steps(program_, walk, *assign->condition);
        if (const auto* reduce = std::get_if<Reduce>(&statement);
            reduce && is_number_in_some_steps(program_, *reduce))
            choice =
                choice_of_steps(program_, walk, std::get<Select>(program_[reduce->value].node).condition);
        if (!choice) return {};
        const ChosenSteps chosen = chosen_steps(program_, *choice);
        return {chosen.range, chosen.are_all ? choice : std::nullopt};
    }

    void find_reads() {
        ReachWalk walk(program_);
        for (std::size_t s = 0; s < program_.statements.size(); ++s) {
            const Statement& statement = program_.statements[s];
            reads_.emplace_back();
            for (const std::uint32_t e : walk.from(ir::roots_of(statement)))
                if (const auto* access = std::get_if<Access>(&program_.exprs[e].node))
                    reads_.back().insert({access->field, access->time});
            reductions_read_.push_back(reductions_read(walk, ir::roots_of(statement)));
            if (std::holds_alternative<Reduce>(statement)) statement_of_.push_back(s);
        }
        for (const Field& field : program_.fields)
            for (const auto& faces : field.boundary)
                for (const Face& face : faces) {
                    std::vector<ExprId> shown = face.ghosts;
                    if (face.kind == BoundaryKind::fixed) shown.push_back(face.value);
                    read_by_faces_.merge(reductions_read(walk, shown));
                }
    }
    std::set<std::uint32_t> reductions_read(ReachWalk& walk, const std::vector<ExprId>& roots) const {
        std::set<std::uint32_t> read;
        for (const std::uint32_t e : walk.from(roots))
            if (const auto* reference = std::get_if<ReductionRef>(&program_.exprs[e].node))
                read.insert(reference->reduction.index);
        return read;
    }

    // The halo of an output is filled where it is written, whether or not that changes a cell.
    void keep_outputs_that_others_read() {
        for (std::uint32_t f = 0; f < program_.fields.size(); ++f) {
            if (program_.fields[f].role != Role::output) continue;
            std::optional<StepRange> written;
            for (const std::size_t s : writers_of({f}))
                written = written ? rt::hull(*written, limits_[s].range) : limits_[s].range;
            for (std::size_t s = 0; s < reads_.size() && written; ++s)
                if (reads_[s].contains({{f}, 0}) && !is_within(limits_[s].range, *written))
                    for (const std::size_t writer : writers_of({f}))
                        limits_[writer] = {};
        }
    }
    std::vector<std::size_t> writers_of(FieldId field) const {
        std::vector<std::size_t> writers;
        for (std::size_t s = 0; s < program_.statements.size(); ++s)
            if (const auto* assign = std::get_if<Assign>(&program_.statements[s]);
                assign && assign->target == field)
                writers.push_back(s);
        return writers;
    }

    // The steps of an interval between these are all within a limit, or none is.
    std::vector<std::int64_t> begins_of_intervals() const {
        std::set<std::int64_t> begins{0};
        for (const Limit& limit : limits_) {
            begins.insert(limit.range.first);
            if (limit.range.past != StepRange::kNoEnd) begins.insert(limit.range.past);
        }
        return {begins.begin(), begins.end()};
    }

    // By statement: whether something comes of it in these steps.
    std::vector<bool> needed_in(const StepRange& interval) const {
        std::set<std::uint32_t> reductions = read_by_faces_;
        for (;;) {  // a statement may read a reduction that comes after it
            const std::size_t before = reductions.size();
            std::vector<bool> needed = needed_in(interval, reductions);
            if (reductions.size() == before) return needed;
        }
    }
    std::vector<bool> needed_in(const StepRange& interval, std::set<std::uint32_t>& reductions) const {
        std::set<ir::Level> wanted;
        for (std::uint32_t f = 0; f < program_.fields.size(); ++f) {
            const Role role = program_.fields[f].role;
            if (role == Role::state) wanted.insert({{f}, 1});
            if (role == Role::output) wanted.insert({{f}, 0});
        }
        std::vector<bool> needed(limits_.size());
        for (std::size_t past = needed.size(); past > 0;) {
            const std::size_t first = first_of_sweep(program_, past - 1);
            bool is_needed = false;
            for (std::size_t s = first; s < past; ++s)
                is_needed = is_needed || has_use(s, interval, wanted, reductions);
            for (std::size_t s = first; s < past && is_needed; ++s) {
                needed[s] = true;
                if (gives_all_cells(s, interval)) wanted.erase(level_of(s));
            }
            for (std::size_t s = first; s < past && is_needed; ++s) {
                wanted.insert(reads_[s].begin(), reads_[s].end());
                reductions.insert(reductions_read_[s].begin(), reductions_read_[s].end());
            }
            past = first;
        }
        return needed;
    }

    bool does_nothing(std::size_t s, const StepRange& interval) const {
        return rt::common(limits_[s].range, interval).is_empty();
    }
    bool has_use(std::size_t s, const StepRange& interval, const std::set<ir::Level>& wanted,
                 const std::set<std::uint32_t>& reductions) const {
        if (std::holds_alternative<Reduce>(program_.statements[s])) {
            const auto number = std::ranges::find(statement_of_, s) - statement_of_.begin();
            return !does_nothing(s, interval) || reductions.contains(static_cast<std::uint32_t>(number));
        }
        return !does_nothing(s, interval) && wanted.contains(level_of(s));
    }
    ir::Level level_of(std::size_t s) const {
        const auto& assign = std::get<Assign>(program_.statements[s]);
        return {assign.target, assign.time};
    }
    bool gives_all_cells(std::size_t s, const StepRange& interval) const {
        const auto* assign = std::get_if<Assign>(&program_.statements[s]);
        if (assign == nullptr || assign->sweep || !assign->region.is_whole() || assign->margins != Margins{})
            return false;
        const Limit& limit = limits_[s];
        return !assign->condition || (assign->condition == limit.implied && is_within(interval, limit.range));
    }

    // Whether each statement is needed wherever it does something.
    bool throws_nothing_away(const std::vector<std::optional<StepRange>>& within) const {
        for (std::size_t s = 0; s < within.size(); ++s) {
            const Statement& statement = program_.statements[s];
            if (is_let(program_, statement) || !std::holds_alternative<Assign>(statement)) continue;
            if (within[s] && !is_within(limits_[s].range, *within[s])) return false;
        }
        return true;
    }

    void limit(Assign& assign, const StepRange& within, const Limit& limit) {
        assign.within = within;
        if (!limit.implied || !is_within(within, limit.range)) return;
        assign.condition = without(*assign.condition, *limit.implied);
    }
    void limit(Reduce& reduce, const StepRange& within, const Limit& limit) {
        reduce.within = within;
        if (!limit.implied || !is_within(within, limit.range)) return;
        const Select chosen = std::get<Select>(program_[reduce.value].node);
        if (chosen.condition != *limit.implied) return;
        reduce.value = chosen.then;
        // In steps that are not chosen all cells are: number_in_some_steps().
        const auto* either =
            reduce.condition ? std::get_if<Binary>(&program_[*reduce.condition].node) : nullptr;
        if (either == nullptr || either->op != BinaryOp::logical_or) return;
        const auto* other_steps = std::get_if<Unary>(&program_[either->left].node);
        if (other_steps != nullptr && other_steps->op == UnaryOp::logical_not &&
            other_steps->operand == chosen.condition)
            reduce.condition = either->right;
    }
    void limit(Inject&, const StepRange&, const Limit&) {}
    void limit(Sample&, const StepRange&, const Limit&) {}

    // A condition without a part that holds; none where that is all of it.
    std::optional<ExprId> without(ExprId condition, ExprId part) {
        if (condition == part) return std::nullopt;
        const auto* found = std::get_if<Binary>(&program_[condition].node);
        if (found == nullptr || found->op != BinaryOp::logical_and) return condition;
        const Binary both = *found;
        const std::optional<ExprId> left = without(both.left, part), right = without(both.right, part);
        if (!left || !right) return left ? left : right;
        if (*left == both.left && *right == both.right) return condition;
        return ExprBuilder(program_).binary(BinaryOp::logical_and, *left, *right);
    }

    Program& program_;
    std::vector<Limit> limits_;                             // by statement
    std::vector<std::set<ir::Level>> reads_;                // by statement
    std::vector<std::set<std::uint32_t>> reductions_read_;  // by statement
    std::vector<std::size_t> statement_of_;                 // by ReductionId
    std::set<std::uint32_t> read_by_faces_;                 // reductions
};

}  // namespace

void limit_steps(Program& program) {
    if (!program.points.empty() || has_repeats(program)) return;
    StepLimiter(program).run();
}

}  // namespace halo::passes
