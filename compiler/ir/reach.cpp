#include "compiler/ir/reach.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/ir/grids.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/repeats.h"
#include "compiler/ir/sweeps.h"
#include "runtime/core/launch_plan.h"

namespace halo::ir {

namespace {

// Of a read, whose cell needs `reach` around it: in cells of the statement's grid. A part of a grid ends
// between cells of all grids. Past its face a mirror shows cells that lie the other way.
Reach of_read(Reach reach, const Access& access, const Field& field) {
    for (std::size_t axis = 0; axis < reach.size(); ++axis) {
        const auto [times, over] = access.map[axis];
        const int offset = access.offset[axis];
        // Of `times` finer cells the last lie so much further as they are.
        const std::array<int, 2> away{std::max(0, -offset), std::max(0, offset - (times - 1))};
        for (std::size_t side = 0; side < 2; ++side) {
            const bool is_mirrored =
                !access.is_mapped() &&
                field.image(static_cast<int>(axis), 1 - static_cast<int>(side)).reflects();
            const int further = is_mirrored ? std::max(away[0], away[1]) : away[side];
            reach[axis][side] = (over * reach[axis][side] + further + times - 1) / times;
        }
    }
    return reach;
}

// Of a read of another grid, in cells of that: past its face a mirror shows cells so far from it. They are
// right in a part that has the face and, beside it, as many cells and ghosts.
Reach of_mirrors(const Access& access, const Field& field) {
    Reach reach{};
    for (int axis = 0; axis < kMaxRank; ++axis)
        for (int side = 0; side < 2; ++side)
            if (field.image(axis, side).reflects())
                reach[static_cast<std::size_t>(axis)][static_cast<std::size_t>(1 - side)] =
                    past_faces(access, axis)[static_cast<std::size_t>(side)];
    return reach;
}

// In cells of the program's own grid, of cells of one that is so much coarser.
Reach of_own_grid(Reach reach, int factor) {
    for (auto& sides : reach)
        for (int& each : sides)
            each *= factor;
    return reach;
}

// What lies past a formula's face is made of cells up to Face::reach away from it.
Reach of_faces(const Program& program) {
    Reach reach{};
    for (const Field& field : program.fields)
        for (std::size_t axis = 0; axis < reach.size(); ++axis)
            for (std::size_t side = 0; side < 2; ++side)
                if (field.boundary[axis][side].kind == BoundaryKind::formula)
                    for (int& each : reach[axis])
                        each = std::max(each, field.boundary[axis][side].reach * field.grid.factor);
    return reach;
}

int radius_of(const Program& program, const Statement& statement) {
    if (const auto* sample = std::get_if<Sample>(&statement)) return program[sample->points].radius;
    return 0;
}

}  // namespace

void widen(Reach& reach, const Reach& by) {
    for (std::size_t axis = 0; axis < reach.size(); ++axis)
        for (std::size_t side = 0; side < 2; ++side)
            reach[axis][side] = std::max(reach[axis][side], by[axis][side]);
}

namespace {

// Goes through the statements of a step and notes how far what they write reaches. Iterations of a repeat are
// gone through, all or until another one reaches no further; behind each, what is exchanged is exact.
class ReachFinder {
public:
    ReachFinder(const Program& program, const std::vector<GhostsDue>& due)
        : program_(program), due_(due), walk_(program) {
        result_.states = result_.results = of_faces(program);
    }

    // nullopt: each iteration reaches further than the one before.
    std::optional<StepReach> find() {
        if (!visit(0, program_.statements.size(), 0)) return std::nullopt;
        return result_;
    }

private:
    // Levels that reach further each time do so for each of these and more.
    static constexpr int kMostPasses = 8;

    bool visit(std::size_t first, std::size_t past, std::size_t depth) {
        past_sweep_ = first;
        for (std::size_t i = first; i < past;) {
            if (repeats_of(program_.statements[i]).size() == depth) {
                visit_statement(i++);
                continue;
            }
            const std::size_t end = end_of_repeat(program_, i, depth);
            const Repeat& repeat = repeats_of(program_.statements[i])[depth];
            bool is_stable = false;
            for (int pass = 0; pass < repeat.count && !is_stable; ++pass) {
                const std::map<Level, Reach> before = written_;
                if (pass == kMostPasses || !visit(i, end, depth + 1)) return false;
                exchange(repeat.number);
                is_stable = written_ == before;
            }
            past_sweep_ = i = end;
        }
        return true;
    }

    void exchange(int repeat) {
        const auto due = std::ranges::find(due_, repeat, &GhostsDue::repeat);
        if (due == due_.end()) return;
        for (const Level& level : due->levels)
            widen(result_.results,
                  of_own_grid(std::exchange(written_[level], Reach{}), program_[level.field].grid.factor));
    }

    Reach reach_of(const Statement& statement) {
        // A part of a grid leaves them as they were, too, at faces that the grid does not have. A step may
        // read less far, where terms have cancelled out.
        Reach reach = margins_of(statement);
        for (const std::uint32_t index : walk_.from(roots_of(statement))) {
            const auto* access = std::get_if<Access>(&program_.exprs[index].node);
            if (access == nullptr) continue;
            if (access->is_mapped())
                widen(result_.results, of_own_grid(of_mirrors(*access, program_[access->field]),
                                                   program_[access->field].grid.factor));
            const auto before = written_.find({access->field, access->time});
            widen(reach, of_read(before == written_.end() ? Reach{} : before->second, *access,
                                 program_[access->field]));
        }
        return reach;
    }

    void visit_statement(std::size_t i) {
        const Statement& statement = program_.statements[i];
        Reach reach = reach_of(statement);
        // The statements of a sweep read each other's cells: each reaches as far as any.
        if (sweep_of(statement) != nullptr && i >= past_sweep_) {
            past_sweep_ = end_of_sweep(program_, i);
            of_sweep_ = {};
            for (std::size_t member = i; member < past_sweep_; ++member)
                widen(of_sweep_, reach_of(program_.statements[member]));
        }
        if (i < past_sweep_) widen(reach, of_sweep_);
        const auto write = [&](FieldId field, int time, bool is_whole) {
            Reach& written = written_[{field, time}];
            if (is_whole) written = {};
            widen(written, reach);
            if (program_[field].role == Role::intermediate) return;
            widen(program_[field].role == Role::state ? result_.states : result_.results,
                  of_own_grid(reach, program_[field].grid.factor));
        };
        if (const auto* assign = std::get_if<Assign>(&statement)) {
            write(assign->target, assign->time, !assign->sweep && !is_partial(*assign));
        } else if (const auto* inject = std::get_if<Inject>(&statement)) {
            write(inject->target, inject->time, false);
        } else {
            const int radius = radius_of(program_, statement);
            for (int axis = 0; axis < program_.rank(); ++axis)
                for (int& each : reach[static_cast<std::size_t>(axis)])
                    each += radius;
            widen(result_.results, of_own_grid(reach, grid_factor(program_, statement)));
        }
    }

    const Program& program_;
    const std::vector<GhostsDue>& due_;
    ReachWalk walk_;
    StepReach result_;
    std::map<Level, Reach> written_;
    Reach of_sweep_{};
    std::size_t past_sweep_ = 0;
};

// By repeat: the levels that its own statements write, not those of repeats within it.
std::vector<GhostsDue> levels_written(const Program& program) {
    std::vector<GhostsDue> all;
    for (const Statement& statement : program.statements) {
        const auto* const assign = std::get_if<Assign>(&statement);
        if (assign == nullptr || assign->repeats.empty()) continue;
        const int repeat = assign->repeats.back().number;
        auto written = std::ranges::find(all, repeat, &GhostsDue::repeat);
        if (written == all.end()) written = all.insert(written, {repeat, {}});
        const Level level{assign->target, assign->time};
        if (std::ranges::find(written->levels, level) == written->levels.end())
            written->levels.push_back(level);
    }
    return all;
}

// As deep as ghosts are: of whole cells of all grids.
Reach in_common_cells(Reach reach, std::int64_t common) {
    for (auto& sides : reach)
        for (int& each : sides)
            each = static_cast<int>((each + common - 1) / common * common);
    return reach;
}

// Finds what pieces exchange within a step, from a program in which all that they may exchange is due.
class ExchangeChoice {
public:
    // first_own: the number of the first repeat that is there for an exchange alone.
    ExchangeChoice(const Program& program, int first_own)
        : program_(program),
          first_own_(first_own),
          common_(common_cells(program)),
          due_(levels_written(program)),
          of_all_(find().value()) {}

    std::vector<GhostsDue> choose() {
        // Those of finer grids have more cells, and their ghosts more than one statement needs.
        std::ranges::stable_sort(due_, {}, [&](const GhostsDue& each) { return factor_of(each); });
        for (std::size_t place = 0, count = due_.size(); place < count; ++place)
            for (std::size_t i = due_[place].levels.size(); i-- > 0;)
                leave_out(due_[place].repeat, i);
        std::erase_if(due_, [](const GhostsDue& each) { return each.levels.empty(); });
        return due_;
    }

private:
    int factor_of(const GhostsDue& due) const { return program_[due.levels.front().field].grid.factor; }
    std::optional<StepReach> find() const {
        std::optional<StepReach> reach = ReachFinder(program_, due_).find();
        if (!reach) return reach;
        return StepReach{in_common_cells(reach->states, common_), in_common_cells(reach->results, common_)};
    }
    bool is_enough() const {
        const std::optional<StepReach> reach = find();
        const auto is_no_deeper = [](const Reach& one, const Reach& other) {
            Reach both = other;
            widen(both, one);
            return both == other;
        };
        return reach && is_no_deeper(reach->states, of_all_.states) &&
               is_no_deeper(reach->results, of_all_.results);
    }
    std::vector<Level>& levels_of(int repeat) {
        const auto found = std::ranges::find(due_, repeat, &GhostsDue::repeat);
        return found == due_.end() ? due_.emplace_back(GhostsDue{repeat, {}}).levels : found->levels;
    }

    // Where it can be; else a level that is exchanged by itself is, where that can be, exchanged when an
    // iteration of the repeat around it ends.
    void leave_out(int repeat, std::size_t index) {
        std::vector<GhostsDue> before = due_;
        const Level level = levels_of(repeat)[index];
        levels_of(repeat).erase(levels_of(repeat).begin() + static_cast<std::ptrdiff_t>(index));
        if (is_enough()) return;
        if (const std::optional<int> around = repeat_around(repeat)) {
            levels_of(*around).push_back(level);
            if (is_enough()) return;
        }
        due_ = std::move(before);
    }
    std::optional<int> repeat_around(int repeat) const {
        if (repeat < first_own_) return std::nullopt;
        const auto own = std::ranges::find_if(
            program_.statements, [&](const Statement& statement) { return is_within(statement, repeat); });
        const std::vector<Repeat>& repeats = repeats_of(*own);
        return repeats.size() < 2 ? std::nullopt : std::optional(repeats[repeats.size() - 2].number);
    }

    const Program& program_;
    const int first_own_;
    const std::int64_t common_;
    std::vector<GhostsDue> due_;
    const StepReach of_all_;
};

int first_free_repeat(const Program& program) {
    int number = 0;
    for (const Statement& statement : program.statements)
        for (const Repeat& repeat : repeats_of(statement))
            number = std::max(number, repeat.number + 1);
    return number;
}

// Makes each statement, and each sweep, an iteration of a repeat that is done once, as far as repeats may be
// within each other.
void repeat_each_once(Program& program, int first_number) {
    int number = first_number;
    for (std::size_t i = 0; i < program.statements.size();) {
        const std::size_t past = end_of_sweep(program, i);
        for (; i < past; ++i)
            if (auto* assign = std::get_if<Assign>(&program.statements[i]);
                assign != nullptr && std::ssize(assign->repeats) < rt::kMostNestedRepeats)
                assign->repeats.push_back({number, 1});
        ++number;
    }
}

}  // namespace

Program with_exchanges(Program program) {
    const int first_own = first_free_repeat(program);
    if (has_coarse_grids(program)) repeat_each_once(program, first_own);
    program.ghosts_due = ExchangeChoice(program, first_own).choose();
    for (Statement& statement : program.statements) {
        auto* const assign = std::get_if<Assign>(&statement);
        if (assign == nullptr || assign->repeats.empty() || assign->repeats.back().number < first_own)
            continue;
        const int own = assign->repeats.back().number;
        if (std::ranges::find(program.ghosts_due, own, &GhostsDue::repeat) == program.ghosts_due.end())
            assign->repeats.pop_back();
    }
    return program;
}

StepReach step_reach(const Program& program) {
    return ReachFinder(program, program.ghosts_due).find().value();
}

std::vector<bool> fields_carried(const Program& program) {
    std::vector<bool> carried(program.fields.size());
    for (std::size_t i = 0; i < carried.size(); ++i)
        carried[i] = program.fields[i].role == Role::state ||
                     (program.fields[i].role == Role::output && program.fields[i].history > 0);
    std::set<std::uint32_t> written, replaced;  // in all cells
    ReachWalk walk(program);
    for (const Statement& statement : program.statements) {
        for (const std::uint32_t index : walk.from(roots_of(statement))) {
            const auto* access = std::get_if<Access>(&program.exprs[index].node);
            if (access == nullptr || program[access->field].role != Role::output ||
                replaced.contains(access->field.index))
                continue;
            // Cells that a statement leaves out keep what they held.
            if (!access->is_at_cell() || !written.contains(access->field.index))
                carried[access->field.index] = true;
        }
        const auto* assign = std::get_if<Assign>(&statement);
        if (assign == nullptr) continue;
        written.insert(assign->target.index);
        if (!assign->sweep && !is_partial(*assign)) replaced.insert(assign->target.index);
    }
    return carried;
}

}  // namespace halo::ir
