// FieldGrid: along which axes of the grid a field has cells of its own, and how much coarser these are. Along
// the other axes it has one value, which is that of all cells. All that follows for indices, arrays and files
// is derived from it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/core/grid_rules.h"

namespace halo::rt {

struct FieldGrid {
    std::array<bool, kMaxRank> along{true, true, true, true};  // axes past the grid's rank count as its own
    int factor = 1;  // a cell of it is as wide as so many of the grid; those at the high faces that are left
                     // over have none

    bool has(int axis) const { return along[static_cast<std::size_t>(axis)]; }
    static FieldGrid coarse(int factor) {
        FieldGrid grid;
        grid.factor = factor;
        return grid;
    }
    bool is_whole() const { return *this == FieldGrid{}; }  // the grid itself
    bool has_all_axes() const { return along == FieldGrid{}.along; }

    // The field's cells on a grid of so many; 1 along axes that it has not. A grid has a cell along each axis
    // (check_coarse_grids), and 1 along axes past its rank.
    Extent extent(Extent grid) const {
        for (std::size_t axis = 0; axis < along.size(); ++axis)
            grid[axis] = along[axis] ? std::max<std::int64_t>(grid[axis] / factor, 1) : 1;
        return grid;
    }
    // Widths or cells by axis and side; none along axes that it has not.
    template <class Widths>
    std::array<Widths, kMaxRank> halo(std::array<Widths, kMaxRank> widths) const {
        for (std::size_t axis = 0; axis < along.size(); ++axis)
            if (!along[axis]) widths[axis] = Widths{};
        return widths;
    }
    // What of an offset between cells of the grid is one between cells of the field.
    template <class Number>
    std::array<Number, kMaxRank> offset(std::array<Number, kMaxRank> cells) const {
        for (std::size_t axis = 0; axis < along.size(); ++axis)
            if (!along[axis]) cells[axis] = Number{};
        return cells;
    }

    int rank(int of_grid) const {  // how many axes it has
        int count = 0;
        for (int axis = 0; axis < of_grid; ++axis)
            count += has(axis) ? 1 : 0;
        return count;
    }
    // A list by axis without the axes that it has not: those that are left move up, and `rest` follows.
    template <class Number>
    std::array<Number, kMaxRank> own_axes(const std::array<Number, kMaxRank>& by_axis, Number rest) const {
        std::array<Number, kMaxRank> own;
        own.fill(rest);
        std::size_t next = 0;
        for (std::size_t axis = 0; axis < along.size(); ++axis)
            if (along[axis]) own[next++] = by_axis[axis];
        return own;
    }

    friend bool operator==(const FieldGrid&, const FieldGrid&) = default;
};

}  // namespace halo::rt
