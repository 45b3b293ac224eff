#include "compiler/schedule/registers.h"

#include <algorithm>

#include "compiler/schedule/strategies.h"

namespace halo::schedule {

namespace {

constexpr int kRegisterStep = 8;  // the granularity of allocation

// Of the cells past one end of a box of `cells`, reached by offsets up to `radius`: those that two cells
// reach.
int shared_past_end(int radius, int cells) {
    return cells >= 2 ? std::max(0, radius - 1) : 0;
}

}  // namespace

Window window(const LevelRead& read, const rt::Lengths& cells) {
    const int box = cells[0] * cells[1] * cells[2];
    Window result{box, 0};
    if (!read.star) {  // all of the box around; a few corners that no cell reads are counted
        result.elements = 1;
        for (int axis = 0; axis < ir::kMaxRank; ++axis)
            result.elements *= cells[axis] + read.reach(axis);
        result.elements = std::min(result.elements, box * static_cast<int>(read.offsets.size()));
        if (box > 1) result.shared_by_cells = result.elements;
        return result;
    }
    bool own_cells_shared = false;
    for (int axis = 0; axis < ir::kMaxRank; ++axis) {
        const int across = box / cells[axis];
        result.elements += across * read.reach(axis);
        for (int side = 0; side < 2; ++side) {
            result.shared_by_cells += across * shared_past_end(read.radius[axis][side], cells[axis]);
        }
        own_cells_shared = own_cells_shared || (cells[axis] > 1 && read.reach(axis) > 0);
    }
    if (own_cells_shared) result.shared_by_cells += box;
    return result;
}

RegisterEstimate estimate_registers(const Footprint& footprint, const Schedule& schedule) {
    RegisterEstimate estimate = kind_of(schedule).registers(footprint, schedule);
    if (estimate.enough == 0) estimate.enough = estimate.expected;
    return estimate;
}

int register_limit(const Schedule& schedule, const Target& target) {
    const int threads = schedule.threads[0] * schedule.threads[1] * schedule.threads[2];
    const int blocks = std::max(1, schedule.min_blocks);
    const int warps = (threads + target.warp - 1) / target.warp;
    const int share =
        target.registers_per_sm / (blocks * warps * target.warp) / kRegisterStep * kRegisterStep;
    return std::min(share, target.max_registers_per_thread);
}

}  // namespace halo::schedule
