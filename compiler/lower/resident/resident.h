// resident: one launch does all steps of a run, with the grid on the chip.
//
// Each block keeps a box of the grid in shared memory, all levels of it, with the cells around it that its
// own need. After a stage its outer cells go to an exchange in global memory, each value in a word with the
// number of its step, and the block's threads take from there what lies around the box: they look at a word
// until it is of that step. So nothing but the values themselves is waited for, and a stage ends with one
// barrier.
//
// An exchange has two halves that steps take in turn. A block overwrites a half only two steps later, when it
// has values from all that read it (who reads a block is read by it, as boxes are kept as wide on both
// sides), and they sent these after they had taken all that they needed of the step before.
//
// What lies past a face is the cell that it shows, sent by whoever has it; a fixed value is there from the
// start.
#pragma once

#include "compiler/lower/shared/strategy.h"
#include "compiler/schedule/resident.h"

namespace halo::lower {

// Names that such a kernel has for purposes of its own.
std::vector<std::string> resident_roles();

struct ResidentResult {
    StrategyResult kernel;
    std::vector<int> exchanges;  // words of a cell
};

// context: of a view of the whole step. levels: new ones of each state, at most, that are stored.
ResidentResult lower_resident(Context& context, const StageViews& views, const schedule::Pipeline& pipeline,
                              const schedule::ResidentSchedule& schedule,
                              const schedule::ResidentShape& shape, int levels);

}  // namespace halo::lower
