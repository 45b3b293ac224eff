// Box: cells of a grid, from `begin` to before `end` along each axis. The dense array of a box holds its
// cells alone, x fastest.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "runtime/core/launch_plan.h"

namespace halo::rt {

struct Box {
    std::array<std::int64_t, kMaxRank> begin{}, end{1, 1, 1};

    std::int64_t length(int axis) const {
        const auto along = static_cast<std::size_t>(axis);
        return std::max<std::int64_t>(end[along] - begin[along], 0);
    }
    std::array<std::int64_t, kMaxRank> extent() const { return {length(0), length(1), length(2)}; }
    std::int64_t cells() const { return length(0) * length(1) * length(2); }
    bool is_empty() const { return cells() == 0; }
    // Of a cell in the box's dense array.
    std::int64_t index(const std::array<std::int64_t, kMaxRank>& cell) const {
        return cell[0] - begin[0] + length(0) * (cell[1] - begin[1] + length(1) * (cell[2] - begin[2]));
    }
    friend bool operator==(const Box&, const Box&) = default;
};

inline Box whole_box(const std::array<std::int64_t, kMaxRank>& extent) {
    return {{}, extent};
}

// The cells of a field that are those of a box of the grid. Of a coarser grid, of a box of all cells.
inline Box box_of_field(const FieldGrid& field, Box box) {
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
        const std::int64_t some = box.end[axis] > box.begin[axis] ? 1 : 0;
        if (!field.along[axis]) {
            box.begin[axis] = 0;
            box.end[axis] = some;
        } else if (field.factor > 1) {
            box.begin[axis] /= field.factor;
            box.end[axis] = std::max(box.end[axis] / field.factor, box.begin[axis] + some);
        }
    }
    return box;
}

inline Box intersection(Box box, const Box& other) {
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
        box.begin[axis] = std::max(box.begin[axis], other.begin[axis]);
        box.end[axis] = std::max(box.begin[axis], std::min(box.end[axis], other.end[axis]));
    }
    return box;
}

inline Box shifted(Box box, const std::array<std::int64_t, kMaxRank>& by) {
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
        box.begin[axis] += by[axis];
        box.end[axis] += by[axis];
    }
    return box;
}

// The box in parts of about `cells` cells at most, one after the other in memory: cut across the slowest
// axis, and across the next where a single plane has more.
inline std::vector<Box> slabs(const Box& box, std::int64_t cells) {
    std::vector<Box> result;
    if (box.is_empty()) return result;
    const std::int64_t plane = box.length(0) * box.length(1);
    const std::int64_t planes = std::clamp<std::int64_t>(cells / plane, 1, box.length(2));
    const std::int64_t rows =
        planes > 1 ? box.length(1) : std::clamp<std::int64_t>(cells / box.length(0), 1, box.length(1));
    for (std::int64_t z = box.begin[2]; z < box.end[2]; z += planes)
        for (std::int64_t y = box.begin[1]; y < box.end[1]; y += rows) {
            Box slab = box;
            slab.begin[1] = y;
            slab.end[1] = std::min(y + rows, box.end[1]);
            slab.begin[2] = z;
            slab.end[2] = std::min(z + planes, box.end[2]);
            result.push_back(slab);
        }
    return result;
}

// Calls work(index in `one`, index in `other`, cells) for the cells of `part`, which both boxes have: in
// runs, as long as they can be, that lie side by side in the dense arrays of both.
template <class Work>
void for_runs(const Box& part, const Box& one, const Box& other, const Work& work) {
    if (part.is_empty()) return;
    const auto spans = [&](int axis) {
        return part.length(axis) == one.length(axis) && part.length(axis) == other.length(axis);
    };
    const std::int64_t rows = spans(0) ? part.length(1) : 1;
    const std::int64_t planes = spans(0) && spans(1) ? part.length(2) : 1;
    for (std::int64_t z = part.begin[2]; z < part.end[2]; z += planes)
        for (std::int64_t y = part.begin[1]; y < part.end[1]; y += rows) {
            const std::array<std::int64_t, kMaxRank> cell{part.begin[0], y, z};
            work(one.index(cell), other.index(cell), part.length(0) * rows * planes);
        }
}

// Whether the cells of `part` lie side by side in the dense array of `box`, which has them.
inline bool is_contiguous(const Box& part, const Box& box) {
    const bool rows = part.length(0) == box.length(0) || part.length(1) * part.length(2) == 1;
    const bool planes =
        (part.length(0) == box.length(0) && part.length(1) == box.length(1)) || part.length(2) == 1;
    return rows && planes;
}

}  // namespace halo::rt
