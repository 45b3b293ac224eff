#include "compiler/schedule/cost.h"

#include "compiler/schedule/direct_model.h"

#include <algorithm>
#include <cmath>

#include "compiler/schedule/registers.h"
#include "compiler/schedule/shared_layout.h"
#include "compiler/schedule/strategies.h"
#include "compiler/schedule/sweep_model.h"

namespace halo::schedule {

namespace {

constexpr int kL2SectorBytes = 32;
constexpr double kL1LineBytes = 128;

std::int64_t ceil_div(std::int64_t value, std::int64_t step) {
    return (value + step - 1) / step;
}

// A block's cells along each axis.
rt::ByAxis<double> block_cells(const Footprint& footprint, const Schedule& schedule, const Extent& extent) {
    rt::ByAxis<double> cells{};
    for (int axis = 0; axis < footprint.rank; ++axis)
        cells[axis] = static_cast<double>(footprint.sweeps_along(axis)
                                              ? extent[axis]
                                              : block_length(schedule, footprint.rank, axis, extent[axis]));
    return cells;
}

// Elements that a block loads from L2 for each cell that it computes: its tile and halo, along the first axis
// in whole sectors.
double fetched_per_cell(const LevelRead& read, const rt::ByAxis<double>& block) {
    double star = 1, box = 1;
    for (int axis = 0; axis < ir::kMaxRank; ++axis) {
        double halo = read.reach(axis);
        if (axis == 0) {
            const int size = size_of(read.storage);
            halo = 0;
            for (const int radius : read.radius[0]) {
                const std::int64_t elements = ceil_div(radius * size, kL2SectorBytes) * kL2SectorBytes / size;
                halo += static_cast<double>(elements);
            }
        }
        star += halo / block[axis];
        box *= 1 + halo / block[axis];
    }
    return read.star ? star : box;
}

// Bytes that memory moves for a cell besides those of one sweep: the planes that streaming blocks read before
// their first one; and for other strategies, where a layer of blocks exceeds the L2, what the next layer
// reads again and what is written back out of order. Blocks that stream along rows are such a layer, too.
double extra_bytes(const Footprint& footprint, const Schedule& schedule, const Target& target,
                   const Extent& extent, const rt::ByAxis<double>& block) {
    const int slowest = footprint.rank - 1;
    const bool streams = kind_of(schedule).streams && footprint.rank == 3;
    double layer = static_cast<double>(footprint.bytes()) * block[slowest];
    for (int axis = 0; axis < slowest; ++axis)
        layer *= static_cast<double>(extent[axis]);
    const double filled = layer / static_cast<double>(target.l2_bytes);
    const double missed =
        sweep_model::kLayerCost *
        std::clamp((filled - sweep_model::kLayerLow) / (sweep_model::kLayerHigh - sweep_model::kLayerLow),
                   0.0, 1.0);
    double extra = 0;
    for (const LevelRead& read : footprint.reads) {
        const int reach = read.reach(slowest);
        if (reach == 0 || slowest == 0) continue;
        const double before =
            block[slowest] < static_cast<double>(extent[slowest]) ? reach / block[slowest] : 0;
        extra += (streams ? before : missed) * size_of(read.storage);
    }
    return extra;
}

// The share of the memory's bandwidth that accesses of `bytes` a thread reach.
double access_efficiency(double bytes) {
    if (bytes >= 16) return sweep_model::kWideAccess;
    if (bytes >= 8) return sweep_model::kHalfAccess;
    return sweep_model::kNarrowAccess;
}

// The share of L1's bandwidth that a warp reaches, as L1 serves one line of 128 bytes at a time.
double line_efficiency(const Footprint& footprint, const Schedule& schedule) {
    // Lines of a warp along the first axis pass through shared memory, in whole rows.
    if (footprint.swept_axis == 0 && schedule.threads[0] == 1 && schedule.threads[1] == 32) return 1;
    const int width = kind_of(schedule).takes_vectors ? schedule.cells[0] : 1;
    const double row = std::min(schedule.threads[0], 32) * width * footprint.widest_bytes();
    return std::clamp(row / kL1LineBytes, 0.125, 1.0);
}

double mean_access_bytes(const Footprint& footprint, const Schedule& schedule) {
    const double levels = static_cast<double>(footprint.reads.size() + footprint.writes.size());
    const int width = kind_of(schedule).takes_vectors ? schedule.cells[0] : 1;
    return levels == 0 ? 16 : width * static_cast<double>(footprint.bytes()) / levels;
}

void add_memory_times(const Footprint& footprint, const Schedule& schedule, const Target& target,
                      const Extent& extent, Cost& cost) {
    const rt::ByAxis<double> block = block_cells(footprint, schedule, extent);
    const double written = static_cast<double>(footprint.bytes_written());
    double fetched = 0, taken = 0;
    for (const LevelRead& read : footprint.reads) {
        const double fetch = fetched_per_cell(read, block);
        const double take = kind_of(schedule).taken_per_cell(read, footprint, schedule, fetch);
        fetched += fetch * size_of(read.storage);
        taken += take * size_of(read.storage);
    }
    const double efficiency = access_efficiency(mean_access_bytes(footprint, schedule));
    const double cells =
        static_cast<double>(extent[0]) * static_cast<double>(extent[1]) * static_cast<double>(extent[2]);
    const double bytes = static_cast<double>(footprint.bytes());
    const bool stays_in_l2 = cells * bytes <= sweep_model::kL2Share * static_cast<double>(target.l2_bytes);
    const double extra = extra_bytes(footprint, schedule, target, extent, block);
    cost.dram = stays_in_l2 ? 0 : (bytes + extra) / (target.dram_bandwidth * efficiency);
    cost.l2 = (fetched + written) / (target.l2_bandwidth * efficiency);
    cost.l1 = (taken + written) / (target.l1_bandwidth * efficiency * line_efficiency(footprint, schedule));
}

void spread_blocks(const Footprint& footprint, const Schedule& schedule, const Target& target,
                   const Extent& extent, Cost& cost) {
    const rt::ByAxis<double> block = block_cells(footprint, schedule, extent);
    cost.blocks = 1;
    double cells = 1;
    for (int axis = 0; axis < footprint.rank; ++axis) {
        cost.blocks *= ceil_div(extent[axis], static_cast<std::int64_t>(block[axis]));
        cells *= static_cast<double>(extent[axis]);
    }
    const int threads = schedule.threads[0] * schedule.threads[1] * schedule.threads[2];
    const int warps = static_cast<int>(ceil_div(threads, target.warp));
    const std::int64_t busiest = ceil_div(cost.blocks, target.sms);
    const double covered = block.product();
    cost.imbalance = static_cast<double>(busiest) * target.sms * covered / cells;
    const int registers =
        std::min(estimate_registers(footprint, schedule).expected, register_limit(schedule, target));
    const std::int64_t shared = make_shared_layout(footprint, schedule).bytes;
    std::int64_t resident =
        std::min<std::int64_t>(target.max_blocks_per_sm, target.max_threads_per_sm / threads);
    resident = std::min<std::int64_t>(
        resident, target.registers_per_sm / (std::max(registers, 16) * warps * target.warp));
    resident = std::min(resident, target.shared_bytes_per_sm / (shared + kSystemSharedBytes));
    cost.warps = static_cast<int>(std::min(std::max<std::int64_t>(1, resident), busiest)) * warps;
    const bool by_memory = cost.dram >= std::max(cost.l2, cost.l1);
    cost.latency = kind_of(schedule).latency(
        footprint, schedule, {target, block, resident, busiest, cost.blocks, cost.warps, by_memory});
}

// The time of memories that work concurrently. Where the device's own takes part, others that are nearly as
// slow add to its time, by a norm of the exponent `blend`; among the caches the faster one is mostly hidden
// behind the slower one.
double together(double dram, double l2, double l1, double blend) {
    const double slowest = std::max({dram, l2, l1});
    if (dram == 0) return slowest + sweep_model::kOverlap * (l2 + l1 - slowest);
    double sum = 0;  // of powers, relative to the slowest
    for (const double seconds : {dram, l2, l1})
        sum += std::pow(seconds / slowest, blend);
    return slowest * std::pow(sum, 1 / blend);
}

// Each front of a plane waits for the one before it.
void add_waits_of_planes(const Footprint& footprint, const Schedule& schedule, const Target& target,
                         const Extent& extent, Cost& cost) {
    const std::int64_t lines = extent[static_cast<std::size_t>(*footprint.swept_axis)];
    const std::int64_t cells = extent[static_cast<std::size_t>(*footprint.swept_within)];
    const std::int64_t planes = extent.cells() / (lines * cells);
    const std::int64_t threads =
        std::int64_t{schedule.threads[0]} * schedule.threads[1] * schedule.threads[2];
    const std::int64_t fronts = cells + footprint.slant * (lines - 1);
    const std::int64_t of_front = ceil_div(std::min(lines, ceil_div(cells, footprint.slant)), threads);
    const double seconds =
        static_cast<double>(fronts * ceil_div(planes, target.sms)) *
        (direct_model::kSecondsOfFront + direct_model::kSecondsOfFrontCell * static_cast<double>(of_front)) /
        static_cast<double>(planes * lines * cells);
    if (seconds > cost.seconds_per_cell) cost.bound = Bound::front;
    cost.seconds_per_cell = std::max(cost.seconds_per_cell, seconds);
}

// Each cell of a line waits for the one before it, or each stretch of a line that is cut into parts.
void add_waits_of_lines(const Footprint& footprint, const Schedule& schedule, const Target& target,
                        const Extent& extent, Cost& cost) {
    const auto along = static_cast<std::size_t>(*footprint.swept_axis);
    double lines = 1;
    for (int axis = 0; axis < footprint.rank; ++axis)
        if (axis != footprint.swept_axis) lines *= static_cast<double>(extent[axis]);
    if (schedule.threads[along] == 1) {
        const bool is_by_rows = along == 0 && footprint.rank > 1;
        const double of_cell =
            is_by_rows ? direct_model::kSecondsOfRowCell : direct_model::kSecondsOfLineCell;
        const double least = of_cell / lines;
        if (least > cost.seconds_per_cell) cost.bound = Bound::line;
        cost.seconds_per_cell = std::max(cost.seconds_per_cell, least);
        return;
    }
    const std::int64_t parts = schedule.threads[along];
    const std::int64_t threads =
        std::int64_t{schedule.threads[0]} * schedule.threads[1] * schedule.threads[2];
    const std::int64_t blocks_at_once =
        target.sms * std::max<std::int64_t>(1, cost.warps / ceil_div(threads, target.warp));
    const std::int64_t stretches =
        ceil_div(cost.blocks, blocks_at_once) * ceil_div(extent[along], parts * schedule.cells[along]);
    const double seconds =
        static_cast<double>(stretches) *
        (direct_model::kSecondsOfStretch + direct_model::kSecondsOfPart * static_cast<double>(parts)) /
        (lines * static_cast<double>(extent[along]));
    if (seconds > cost.seconds_per_cell) cost.bound = Bound::line;
    cost.seconds_per_cell += seconds;
}

}  // namespace

const char* name_of(Bound bound) {
    switch (bound) {
        case Bound::dram:
            return "device memory";
        case Bound::l2:
            return "the L2 cache";
        case Bound::l1:
            return "L1 and shared memory";
        case Bound::line:
            return "the cells of a line, which wait for each other";
        case Bound::front:
            return "the fronts of a plane, which wait for each other";
    }
    return "";
}

Cost estimate_cost(const Footprint& footprint, const Schedule& schedule, const Target& target,
                   const Extent& of_grid) {
    const Extent extent = own_extent(footprint, of_grid);
    Cost cost;
    add_memory_times(footprint, schedule, target, extent, cost);
    spread_blocks(footprint, schedule, target, extent, cost);
    const double slowest = std::max({cost.dram, cost.l2, cost.l1});
    if (slowest == cost.l1) cost.bound = Bound::l1;
    if (slowest == cost.l2) cost.bound = Bound::l2;
    if (slowest == cost.dram) cost.bound = Bound::dram;
    const StrategyKind& kind = kind_of(schedule);
    const double blend = kind.blend != nullptr ? kind.blend(footprint) : sweep_model::kBlend;
    cost.seconds_per_cell = cost.imbalance * cost.latency * together(cost.dram, cost.l2, cost.l1, blend);
    if (footprint.swept_within)
        add_waits_of_planes(footprint, schedule, target, extent, cost);
    else if (footprint.swept_axis)
        add_waits_of_lines(footprint, schedule, target, extent, cost);
    return cost;
}

double cells_per_second_bound(const Footprint& footprint, const Target& target) {
    return footprint.bytes() == 0 ? 0 : target.dram_bandwidth / static_cast<double>(footprint.bytes());
}

Extent typical_extent(int rank) {
    if (rank == 1) return {std::int64_t{1} << 27, 1, 1};
    if (rank == 2) return {16384, 16384, 1};
    if (rank == 3) return {512, 512, 512};
    return {128, 128, 128, 64};
}

}  // namespace halo::schedule
