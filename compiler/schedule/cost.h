// A plain model of how long a sweep takes: which memory bounds it and how evenly the grid spreads over the
// device. It ranks schedules; it does not promise times.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/schedule/footprint.h"
#include "compiler/schedule/legality.h"
#include "compiler/schedule/schedule.h"

namespace halo::schedule {

// line, front: a sweep's cells, or its fronts of cells, wait for each other
enum class Bound : std::uint8_t { dram, l2, l1, line, front };
const char* name_of(Bound bound);  // for people

struct Cost {
    double dram = 0, l2 = 0, l1 = 0;  // seconds a cell that each memory needs
    double imbalance = 1;     // >= 1: cells of the busiest SM, or past the grid's edge, over an even share
    double latency = 1;       // >= 1: too few warps to hide it
    std::int64_t blocks = 0;  // of the whole grid
    int warps = 0;            // that the busiest SM runs at a time
    Bound bound = Bound::dram;
    double seconds_per_cell = 0;
};
Cost estimate_cost(const Footprint& footprint, const Schedule& schedule, const Target& target,
                   const Extent& extent);

// The least time a sweep can take: compulsory bytes over the memory's bandwidth, in cells a second.
double cells_per_second_bound(const Footprint& footprint, const Target& target);

// A large grid of the rank, for choosing where the extent is not known.
Extent typical_extent(int rank);

}  // namespace halo::schedule
