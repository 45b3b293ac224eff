// Statements that change a level in place: those after the first that writes it, those that give an output
// only some of its cells, and sweeps.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::ir {

// True for each statement that works in place.
std::vector<bool> in_place_statements(const Program& program);

// Whether the statement says nothing of some cells: by its region, its condition or its margins.
bool is_partial(const Assign& assign);

// The margins that a kernel has to guard where all its cells are of the region.
Margins margins_within(const Region& region, Margins margins);

// A read of the statement's own target that may be of a cell which the statement writes, other than the cell
// itself; nullopt where there is none. Shown to be apart are a box that is thinner than the offset, and
// colours: a condition `L mod m == r` with a whole-numbered sum L of indices that the offset moves to another
// remainder. Past an edge a read shows what was there before the statement. What a sweep reads along its axis
// is in order (sweeps.h).
std::optional<Access> read_of_written(const Program& program, const Assign& assign);

}  // namespace halo::ir
