#include "compiler/schedule/registers.h"

#include <algorithm>

#include "compiler/schedule/stream_plan.h"

namespace halo::schedule {

namespace {

constexpr int kBase = 16;           // indices, bounds, guards
constexpr int kPointer = 2;         // of each level
constexpr double kInFlight = 0.75;  // of the values used once, the share that waits in registers
constexpr int kRegisterStep = 8;    // registers are handed out in eights
constexpr int kMostInFlight = 96;   // words of a level
constexpr int kTileWindow = 48;     // words of a cell's reads from shared memory that are in flight at most
constexpr int kMostGathered = 64;   // words of a plane's neighbours that a walking thread loads ahead
constexpr double kGatheredInFlight = 0.85;  // of these, the share that waits in registers
constexpr int kWalk = 6;                    // slots and places of the ring

int words(ir::Scalar type) {
    return size_of(type) == 8 ? 2 : 1;
}

// Of the cells past one end of a box of `cells`, reached by offsets up to `radius`: those that two cells
// reach.
int shared_past_end(int radius, int cells) {
    return cells >= 2 ? std::max(0, radius - 1) : 0;
}

int arithmetic_registers(const Footprint& footprint) {
    const bool wide = footprint.widest_bytes() == 8;
    const Operations& operations = footprint.operations;
    const int slow = operations.divisions + operations.roots + operations.functions > 0 ? 12 : 0;
    return (wide ? 8 : 4) + slow;
}

int base_registers(const Footprint& footprint) {
    const int levels = static_cast<int>(footprint.reads.size() + footprint.writes.size());
    return kBase + kPointer * levels + arithmetic_registers(footprint);
}

RegisterEstimate direct_registers(const Footprint& footprint, const Schedule& schedule) {
    RegisterEstimate estimate{base_registers(footprint), base_registers(footprint)};
    const int box = schedule.cells[0] * schedule.cells[1] * schedule.cells[2];
    for (const LevelRead& read : footprint.reads) {
        if (!read.at_neighbours()) {
            estimate.expected += static_cast<int>(kInFlight * box * words(read.type));
            continue;
        }
        const Window needed = window(read, schedule.cells);
        const int once = needed.elements - needed.shared_by_cells;
        estimate.held += needed.shared_by_cells * words(read.type);
        estimate.expected += needed.shared_by_cells * words(read.type) +
                             std::min(kMostInFlight, static_cast<int>(kInFlight * once * words(read.type)));
    }
    return estimate;
}

// A thread of a tile computes one cell after the other from shared memory.
RegisterEstimate tile_registers(const Footprint& footprint) {
    int reads = 0;
    for (const LevelRead& read : footprint.reads) {
        reads += static_cast<int>(read.offsets.size()) * words(read.type);
    }
    const int base = base_registers(footprint);
    return {base, base + std::min(reads, kTileWindow)};
}

// The queue stays for the whole walk, as does where a thread's copies come from; neighbours that are read in
// one plane alone come row by row.
RegisterEstimate stream_registers(const Footprint& footprint, const Schedule& schedule) {
    RegisterEstimate estimate{base_registers(footprint), base_registers(footprint)};
    for (const LevelRead& read : footprint.reads) {
        const StreamPlan plan = plan_stream(read, footprint.rank, schedule);
        const int queue = queue_words(plan, read.type);
        estimate.held += queue;
        const int gathered = std::min(gathered_words(plan, read.type), kMostGathered);
        estimate.expected += queue + static_cast<int>(kGatheredInFlight * gathered);
    }
    const int rows = footprint.rank == 3 ? schedule.cells[1] : 1;
    for (const LevelWrite& write : footprint.writes)
        estimate.expected += schedule.cells[0] * rows * words(write.type);
    estimate.expected += kWalk;
    return estimate;
}

}  // namespace

Window window(const LevelRead& read, const std::array<int, 3>& cells) {
    const int box = cells[0] * cells[1] * cells[2];
    Window result{box, 0};
    if (!read.star) {  // all of the box around; a few corners that no cell reads are counted
        result.elements = 1;
        for (int axis = 0; axis < ir::kMaxRank; ++axis)
            result.elements *= cells[axis] + read.reach(axis);
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
    switch (schedule.strategy) {
        case Strategy::direct:
            return direct_registers(footprint, schedule);
        case Strategy::tile:
            return tile_registers(footprint);
        case Strategy::stream:
            return stream_registers(footprint, schedule);
    }
    return {};
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
