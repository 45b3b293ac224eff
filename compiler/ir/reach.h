// How far what a cell becomes depends on other cells: what a part of the grid must know of its neighbours.
#pragma once

#include <array>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::ir {

// Cells, [axis][0 low, 1 high], >= 0; of the program's own grid.
using Reach = std::array<std::array<int, 2>, kMaxRank>;
void widen(Reach& reach, const Reach& by);

struct StepReach {
    // From what a step begins with to the states' new levels, through all that it computes between. Faces
    // with a formula count with all that it reads.
    Reach states{};
    // The same, to all else that it gives: outputs, reductions, what is sampled at points, and what pieces
    // exchange within the step.
    Reach results{};
};
// Of a program that has what is exchanged within a step.
StepReach step_reach(const Program& program);

// The program as the pieces of its grid do it, with what they exchange within a step (Program::ghosts_due).
// By repeat, these are the levels that its statements write, not those of repeats within it, but for what can
// be left out with ghosts no deeper: what each iteration gives anew, and what later ones do not read beside
// the cell, nor what they make of it.
//
// A cell of a coarser grid reaches as far as several of a finer one, and a step goes to and fro between them.
// So where there are several grids any statement may be followed by an exchange: it is then the iteration of
// a repeat that is done once. Ghosts are whole cells of all grids (common_cells()); as many of the coarsest
// as single statements need suffice several statements on finer grids.
Program with_exchanges(Program program);

// Fields that a step leaves and a later one reads beside the cell, or before it writes them: states, and
// outputs with a past or whose old values are read.
std::vector<bool> fields_carried(const Program& program);

}  // namespace halo::ir
