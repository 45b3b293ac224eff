// Lattice: cells of a grid that lie in equal steps along each axis: a part of a field that is saved.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "runtime/core/box.h"

namespace halo::rt {

struct Lattice {
    std::array<std::int64_t, kMaxRank> begin{};
    Extent count{}, stride{};

    std::int64_t cells() const { return count.cells(); }
    friend bool operator==(const Lattice&, const Lattice&) = default;
};

inline Lattice lattice_of(const Box& box) {
    return {box.begin, box.extent(), {}};
}

// The cell of that number along each axis, from 0.
inline std::array<std::int64_t, kMaxRank> cell_of(const Lattice& lattice,
                                                  const std::array<std::int64_t, kMaxRank>& number) {
    std::array<std::int64_t, kMaxRank> cell = lattice.begin;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis)
        cell[axis] += number[axis] * lattice.stride[axis];
    return cell;
}

// The smallest box that has all of its cells.
inline Box bounds(const Lattice& lattice) {
    Box box;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
        box.begin[axis] = lattice.begin[axis];
        box.end[axis] = lattice.begin[axis] + (lattice.count[axis] - 1) * lattice.stride[axis] + 1;
    }
    return box;
}

// Which of its cells a box has, as a box of their numbers along each axis, from 0.
inline Box numbers_in(const Lattice& lattice, const Box& box) {
    const auto number = [&](std::size_t axis, std::int64_t cell) {  // of the first cell from this one on
        const std::int64_t past = std::max<std::int64_t>(cell - lattice.begin[axis], 0);
        return std::min((past + lattice.stride[axis] - 1) / lattice.stride[axis], lattice.count[axis]);
    };
    Box numbers;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
        numbers.begin[axis] = number(axis, box.begin[axis]);
        numbers.end[axis] = std::max(numbers.begin[axis], number(axis, box.end[axis]));
    }
    return numbers;
}

// Those of its cells that have these numbers.
inline Lattice part_of(Lattice lattice, const Box& numbers) {
    for (std::size_t axis = 0; axis < kMaxRank; ++axis)
        lattice.begin[axis] += numbers.begin[axis] * lattice.stride[axis];
    lattice.count = numbers.extent();
    return lattice;
}

}  // namespace halo::rt
