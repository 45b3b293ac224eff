// Stages of small grids that share a launch: one block does them in turn, with a barrier after each. That
// takes less time than the way from one kernel to the next, as long as the cells keep one multiprocessor busy
// for no longer.
#pragma once

#include <cstdint>

#include "compiler/schedule/footprint.h"
#include "compiler/schedule/legality.h"
#include "compiler/schedule/schedule.h"

namespace halo::schedule {

// Measured on an H200 by chains of sweeps of a 5-point star in f64 that reads four fields besides, replayed
// as a graph. A kernel for each took 1.15 to 1.2 µs on 8² to 32² cells and 1.3 on 64²; one block of 512
// threads 0.43, 0.49 and 0.81 on 8², 16² and 32², 1.9 on 48² and 3.1 on 64². Several blocks with a barrier
// among them were no faster than kernels: 0.95 to 1.2 µs as a cluster of eight, 1.7 and more with a barrier
// of a grid.
namespace fuse_model {
inline constexpr int kThreads = 512;                    // of the block
inline constexpr std::int64_t kMostCells = 1024;        // of a stage
inline constexpr double kStageSeconds = 0.43e-6;        // of a stage of few cells, its barrier included
inline constexpr double kCellSeconds = 0.37e-9;         // for each of its cells
inline constexpr std::int64_t kMostOperations = 65536;  // of all cells of a stage
}  // namespace fuse_model

// Whether the stage is one that a block can do in turn with others: it does not reduce, sums over no table
// and is not at points.
bool can_share_launch(const Footprint& footprint);

// Whether the schedule says that it does.
bool shares_launch(const Footprint& footprint, const Schedule& schedule);

// Seconds of such a stage on a grid of that extent.
double seconds_in_turn(const Footprint& footprint, const Extent& extent);

// Whether it takes less time so than by a launch of its own, on a grid of that extent.
bool is_small(const Footprint& footprint, const Schedule& schedule, const Extent& extent);

}  // namespace halo::schedule
