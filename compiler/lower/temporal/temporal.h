// temporal (N.5D): one kernel does all stages of several time steps, one behind the other along the slowest
// axis (schedule/pipeline.h).
//
// The grid is cut into tiles across the streaming axis that overlap by what the steps need around them, and
// all planes of all tiles are divided evenly among the workers: blocks, or in two dimensions warps. A
// worker's threads hold a box of neighbouring cells each; planes of every level pass through queues in
// registers. Neighbours along the first axis come from the lanes beside, along the second through rows in
// shared memory. Planes arrive in a ring in shared memory by copies in the background. At a face the tiles
// end with the grid, so that what lies past it is told from a thread's own cells.
#pragma once

#include "compiler/lower/shared/strategy.h"
#include "compiler/schedule/pipeline.h"
#include "compiler/schedule/temporal.h"

namespace halo::lower {

// Names that such a kernel has for purposes of its own.
std::vector<std::string> temporal_roles();

struct TemporalResult {
    StrategyResult kernel;
    rt::Extent least_extent{};  // of a grid that it works on
};

// context: of a view of the whole step. levels: of each state that are new; the kernel writes level `levels`
// (t + steps) and those before it. Throws UnsupportedError where the schedule cannot be.
TemporalResult lower_temporal(Context& context, const StageViews& views, const schedule::Pipeline& pipeline,
                              const schedule::TemporalSchedule& schedule, int levels);

}  // namespace halo::lower
