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

// The margins without those that lie outside of the region anyway.
Margins margins_within(const Region& region, Margins margins);

// Which statements one sweep can do for a part of the grid: those that are the first to give an output its
// cells there, and reductions of the same cells. None of the former reads what it writes, and what chooses
// the cells is known before.
class SharedCells {
public:
    SharedCells(const Program& program, const std::vector<bool>& in_place);
    bool can_share(std::size_t statement) const { return can_share_[statement]; }
    // Whether both are for the same cells.
    bool are_shared(std::size_t a, std::size_t b) const;

private:
    const Program& program_;
    std::vector<bool> can_share_;
};

// A read of the statement's own target that may be of a cell which the statement writes, other than the cell
// itself; nullopt where there is none. Shown to be apart are a box that is thinner than the offset, and
// colours: a condition `L mod m == r` with a whole-numbered sum L of indices that the offset moves to another
// remainder. Past an edge a read shows what was there before the statement. What a sweep reads along its axes
// is in order (sweeps.h).
std::optional<Access> read_of_written(const Program& program, const Assign& assign);

}  // namespace halo::ir
