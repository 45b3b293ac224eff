// resident: one launch does all steps of a run, with the grid on the chip.
//
// Each block keeps a box of the grid in shared memory, all levels of it, with the ghost cells that its
// stencils read. After each stage blocks exchange halos through a buffer in global memory: outer cells are
// stored there in packets that also carry their epoch (the number of the step), and receivers poll a packet
// until it is of the epoch that they need. So a block waits for the values themselves, with no flags, fences
// or grid-wide barriers, and a stage ends with one barrier of the block.
//
// The buffer is double: even and odd epochs have a half each. A block overwrites a half two steps later. By
// then it has received packets of the epoch between from all blocks that read it (ghost zones are as wide on
// both sides, so readers are also senders), and each of them sent those after it had received all that it
// needed of the epoch before.
//
// A ghost cell past a face of the grid holds the cell that the boundary shows, sent by the block that owns
// it; a fixed value is stored once, before the first step.
#pragma once

#include "compiler/lower/shared/strategy.h"
#include "compiler/schedule/resident.h"

namespace halo::lower {

// Names that a resident kernel uses itself, which fields of the spec therefore cannot have.
std::vector<std::string> resident_roles();

struct ResidentResult {
    StrategyResult kernel;
    std::vector<int> exchanges;  // for each exchange buffer: words of eight bytes that a block needs
};

// context: that of a view of the whole step. levels: how many new levels of a state are stored at most.
ResidentResult lower_resident(Context& context, const StageViews& views, const schedule::Pipeline& pipeline,
                              const schedule::ResidentSchedule& schedule,
                              const schedule::ResidentShape& shape, int levels);

}  // namespace halo::lower
