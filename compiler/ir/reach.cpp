#include "compiler/ir/reach.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/ir/repeats.h"
#include "compiler/ir/sweeps.h"

namespace halo::ir {

namespace {

// Of a read so far away, whose cell needs `reach` around it. Past its face a mirror shows cells that lie the
// other way.
Reach shifted(Reach reach, const Offset& offset, const Field& field) {
    for (std::size_t axis = 0; axis < reach.size(); ++axis) {
        const std::array<int, 2> away{std::max(0, -offset[axis]), std::max(0, offset[axis])};
        for (std::size_t side = 0; side < 2; ++side) {
            const bool is_mirrored =
                field.image(static_cast<int>(axis), 1 - static_cast<int>(side)).reflects();
            reach[axis][side] += is_mirrored ? std::max(away[0], away[1]) : away[side];
        }
    }
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
                        each = std::max(each, field.boundary[axis][side].reach);
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
// gone through until another one reaches no further; behind each, what is exchanged is exact.
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
            bool is_stable = false;
            for (int pass = 0; !is_stable; ++pass) {
                const std::map<Level, Reach> before = written_;
                if (pass == kMostPasses || !visit(i, end, depth + 1)) return false;
                exchange(repeats_of(program_.statements[i])[depth].number);
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
            widen(result_.results, std::exchange(written_[level], Reach{}));
    }

    Reach reach_of(const Statement& statement) {
        // A part of a grid leaves them as they were, too, at faces that the grid does not have. A step may
        // read less far, where terms have cancelled out.
        Reach reach = margins_of(statement);
        for (const std::uint32_t index : walk_.from(roots_of(statement))) {
            const auto* access = std::get_if<Access>(&program_.exprs[index].node);
            if (access == nullptr) continue;
            const auto before = written_.find({access->field, access->time});
            widen(reach, shifted(before == written_.end() ? Reach{} : before->second, access->offset,
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
        const auto write = [&](FieldId field, int time) {
            widen(written_[{field, time}], reach);
            if (program_[field].role == Role::intermediate) return;
            widen(program_[field].role == Role::state ? result_.states : result_.results, reach);
        };
        if (const auto* assign = std::get_if<Assign>(&statement)) {
            write(assign->target, assign->time);
        } else if (const auto* inject = std::get_if<Inject>(&statement)) {
            write(inject->target, inject->time);
        } else {
            const int radius = radius_of(program_, statement);
            for (int axis = 0; axis < program_.rank(); ++axis)
                for (int& each : reach[static_cast<std::size_t>(axis)])
                    each += radius;
            widen(result_.results, reach);
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

bool is_no_deeper(const Reach& reach, const Reach& other) {
    Reach both = other;
    widen(both, reach);
    return both == other;
}

}  // namespace

std::vector<GhostsDue> ghosts_due(const Program& program) {
    std::vector<GhostsDue> due = levels_written(program);
    if (due.empty()) return due;
    const auto find = [&] { return ReachFinder(program, due).find(); };
    const StepReach of_all = find().value();
    for (GhostsDue& each : due)
        for (std::size_t i = each.levels.size(); i-- > 0;) {
            const Level level = each.levels[i];
            each.levels.erase(each.levels.begin() + static_cast<std::ptrdiff_t>(i));
            const std::optional<StepReach> without = find();
            if (!without || !is_no_deeper(without->states, of_all.states) ||
                !is_no_deeper(without->results, of_all.results))
                each.levels.insert(each.levels.begin() + static_cast<std::ptrdiff_t>(i), level);
        }
    std::erase_if(due, [](const GhostsDue& each) { return each.levels.empty(); });
    return due;
}

StepReach step_reach(const Program& program) {
    const std::vector<GhostsDue> due = ghosts_due(program);
    return ReachFinder(program, due).find().value();
}

std::vector<bool> fields_carried(const Program& program) {
    std::vector<bool> carried(program.fields.size());
    for (std::size_t i = 0; i < carried.size(); ++i)
        carried[i] = program.fields[i].role == Role::state ||
                     (program.fields[i].role == Role::output && program.fields[i].history > 0);
    std::set<std::uint32_t> written;
    ReachWalk walk(program);
    for (const Statement& statement : program.statements) {
        for (const std::uint32_t index : walk.from(roots_of(statement))) {
            const auto* access = std::get_if<Access>(&program.exprs[index].node);
            if (access == nullptr || program[access->field].role != Role::output) continue;
            // Cells that a statement leaves out keep what they held.
            if (!access->is_at_cell() || !written.contains(access->field.index))
                carried[access->field.index] = true;
        }
        if (const auto* assign = std::get_if<Assign>(&statement)) written.insert(assign->target.index);
    }
    return carried;
}

}  // namespace halo::ir
