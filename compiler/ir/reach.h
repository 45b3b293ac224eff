// How far what a cell becomes depends on other cells: what a part of the grid must know of its neighbours.
#pragma once

#include <array>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::ir {

using Reach = std::array<std::array<int, 2>, kMaxRank>;  // cells, [axis][0 low, 1 high], >= 0
void widen(Reach& reach, const Reach& by);

struct StepReach {
    // From what a step begins with to the states' new levels, through all that it computes between. Faces
    // with a formula count with all that it reads.
    Reach states{};
    // The same, to all else that it gives: outputs, reductions, what is sampled at points, and what pieces
    // exchange within the step.
    Reach results{};
};
StepReach step_reach(const Program& program);

// By repeat: the levels that pieces of a grid exchange after each of its iterations. They are those that its
// statements write, not those of repeats within it, but for what can be left out with ghosts no deeper: what
// each iteration gives anew, and what later ones do not read beside the cell, nor what they make of it.
std::vector<GhostsDue> ghosts_due(const Program& program);

// Fields that a step leaves and a later one reads beside the cell, or before it writes them: states, and
// outputs with a past or whose old values are read.
std::vector<bool> fields_carried(const Program& program);

}  // namespace halo::ir
