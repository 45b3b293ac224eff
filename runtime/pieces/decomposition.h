// How a grid is cut into pieces: boxes of cells, one for each device, in rows along the axes.
//
// Each piece computes its own cells and, past faces where it has a neighbour, ghosts: cells of the neighbour
// that it computes as well, so that it needs its neighbours only every so many steps. A piece is at least as
// long as its ghosts are deep, so that they all come from the piece beside it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/launch_plan.h"

namespace halo::rt {

using Cells = std::array<std::int64_t, kMaxRank>;
using Depths = std::array<std::array<std::int64_t, 2>, kMaxRank>;  // cells, [axis][0 low, 1 high]

struct Grid {
    int rank = 1;
    Extent extent{};
    std::array<bool, kMaxRank> wraps{};  // periodic: the last piece along the axis is beside the first
    // Pieces begin at multiples of so many cells, so that cells of coarser grids lie in one piece; along axes
    // that wrap the extent is one, too. Ghosts are as deep as such multiples.
    std::int64_t unit = 1;
};

struct Piece {
    std::array<int, kMaxRank> place{};  // among the pieces, along each axis
    Cells begin{};                      // its own cells, of the whole grid
    Extent end{};
    Depths ghosts{};
    // Of its own cells and ghosts. The first may be below 0, and the last past the grid, where it wraps.
    std::int64_t first(int axis) const { return begin[axis] - ghosts[axis][0]; }
    std::int64_t cells(int axis) const { return end[axis] + ghosts[axis][1] - first(axis); }
    Extent extent() const { return {cells(0), cells(1), cells(2), cells(3)}; }
    std::int64_t own(int axis) const { return end[axis] - begin[axis]; }
    std::int64_t own_cells() const { return Extent({own(0), own(1), own(2), own(3)}).cells(); }
    // That its neighbours give it, of one level.
    std::int64_t ghost_cells() const { return extent().cells() - own_cells(); }
};

struct Decomposition {
    Grid grid;
    Lengths counts{};           // pieces along each axis
    std::vector<Piece> pieces;  // by place, x fastest

    int count() const { return static_cast<int>(pieces.size()); }
    bool is_cut(int axis) const { return counts[static_cast<std::size_t>(axis)] > 1; }
    // The first axis but the last along which it is cut; none where it is cut along the last alone.
    std::optional<int> axis_cut_besides_last() const;
    // The number of the piece beside `piece`; -1 where there is none.
    int beside(int piece, int axis, int side) const;
    // The same pieces, in cells of a grid so many times coarser, of which the unit is a multiple.
    Decomposition of_grid(int factor) const;
};

// How many pieces along each axis: `counts` of them, their own cells as equal as can be. Throws Error
// (bad_argument) that says which are thinner than the ghosts, in the words of the axes' names.
Decomposition decompose(const Grid& grid, const Lengths& counts, const Depths& ghosts,
                        const std::vector<std::string>& axes);

// The cut into `count` pieces for which the fewest cells are exchanged, weighted by what they cost: along the
// first axis each cell is a row of its own in memory. Of axes in `may` alone. None where none is possible;
// `why`, if given, then says of one cut which pieces are too thin.
std::optional<Decomposition> find_decomposition(const Grid& grid, int count, const Depths& ghosts,
                                                const std::array<bool, kMaxRank>& may,
                                                const std::vector<std::string>& axes,
                                                std::string* why = nullptr);
// The same. Throws Error (bad_argument) where none is possible, with the most pieces that are, along the last
// axis that may be cut.
Decomposition choose_decomposition(const Grid& grid, int count, const Depths& ghosts,
                                   const std::array<bool, kMaxRank>& may,
                                   const std::vector<std::string>& axes);

}  // namespace halo::rt
