// The program for a part of its grid: what a piece computes where a grid is cut into pieces.
//
// A part is a box of cells. Past its faces that are no faces of the whole grid lie cells of its neighbours; a
// part has some of them as cells of its own (ghosts) and computes them, too, so what it takes for the values
// past its faces does not matter: wrong values move inwards by what ir::step_reach() says in each step, and
// ghosts are exchanged before wrong values reach the part's own cells.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "compiler/ir/program.h"

namespace halo::passes {

using Cells = std::array<std::int64_t, ir::kMaxRank>;

struct Part {
    rt::Extent whole{};  // cells of the whole grid along each axis
    Cells first{};       // the part's first cell; below 0 along a periodic axis where it wraps
    rt::Extent extent{};
    std::array<bool, ir::kMaxRank> cut{};  // others have all cells along the axis
};

// Whether the grid is periodic along the axis: its first and last pieces are neighbours.
bool is_periodic(const ir::Program& program, int axis);

// Why the grid cannot be cut along the axis, to end a sentence after "as"; empty where it can.
std::string why_uncut(const ir::Program& program, int axis);

// Coordinates, lengths and noise become those of the whole grid (ir::Window), by params with the part's
// numbers as defaults, so that parts that differ in nothing else have the same code. Regions that count from
// a face which the part has not count from one of its own, or are empty. Contract: why_uncut() is empty for
// the axes that are cut, and parts begin and end between cells of all grids (ir::common_cells()), or with the
// grid.
ir::Program program_of_part(ir::Program program, const Part& part);

}  // namespace halo::passes
