// FieldGrid: along which axes of the grid a field has cells of its own. Along the others it has one value,
// which is that of all cells. All that follows for indices, arrays and files is derived from it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/core/grid_rules.h"

namespace halo::rt {

struct FieldGrid {
    std::array<bool, kMaxRank> along{true, true, true};  // axes past the grid's rank count as its own

    bool has(int axis) const { return along[static_cast<std::size_t>(axis)]; }
    bool is_whole() const { return *this == FieldGrid{}; }

    // The field's cells on a grid of so many; 1 along axes that it has not.
    std::array<std::int64_t, kMaxRank> extent(std::array<std::int64_t, kMaxRank> grid) const {
        for (std::size_t axis = 0; axis < along.size(); ++axis)
            if (!along[axis]) grid[axis] = 1;
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
