// A step in several passes over memory: kernels of consecutive stages, one after the other. Where all stages
// in one kernel would take more registers than there are, some of them in each do not (ADR 65).
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/schedule/stand_in.h"

namespace halo::schedule {

// What one of the kernels computes. It leaves memory what later kernels read of its lets, and the states'
// next levels, by states that are not the program's: they are never read, so that the levels which are read
// stay in shared memory, as those of inputs do.
struct TemporalPass {
    ir::Program program;        // fields beyond those of the whole are this pass's own
    std::vector<StandIn> kept;  // in the place of level 1 of a state, 0 of a let
};

// The passes that `count` of them are, or why there are none. core: of temporal_core() of the program.
std::variant<std::vector<TemporalPass>, std::string> temporal_passes(const ir::Program& program,
                                                                     const ir::Program& core, int count);

}  // namespace halo::schedule
