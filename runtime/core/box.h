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
    std::array<std::int64_t, kMaxRank> begin{};
    Extent end{};

    std::int64_t length(int axis) const {
        const auto along = static_cast<std::size_t>(axis);
        return std::max<std::int64_t>(end[along] - begin[along], 0);
    }
    Extent extent() const { return {length(0), length(1), length(2), length(3)}; }
    std::int64_t cells() const { return extent().cells(); }
    bool is_empty() const { return cells() == 0; }
    // Of a cell in the box's dense array.
    std::int64_t index(const std::array<std::int64_t, kMaxRank>& cell) const {
        std::array<std::int64_t, kMaxRank> within = cell;
        for (std::size_t axis = 0; axis < kMaxRank; ++axis)
            within[axis] -= begin[axis];
        return extent().index_of(within);
    }
    friend bool operator==(const Box&, const Box&) = default;
};

inline Box whole_box(const Extent& extent) {
    return {{}, extent};
}

// The cells of a field that are those of a box of the grid. Of a coarser grid, of a box that begins between
// two of its cells, and ends so or with the grid.
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

// Goes on to the next cell of a box in memory, among those that differ along axes from `first` on alone.
// False after the last.
inline bool advance(std::array<std::int64_t, kMaxRank>& cell, const Box& box, std::size_t first) {
    for (std::size_t axis = first; axis < kMaxRank; ++axis) {
        if (++cell[axis] < box.end[axis]) return true;
        cell[axis] = box.begin[axis];
    }
    return false;
}

// The box in parts of about `cells` cells at most, one after the other in memory: cut across the slowest
// axis, and across the next where a single cell of that has more, and so on.
inline std::vector<Box> slabs(const Box& box, std::int64_t cells) {
    std::vector<Box> result;
    if (box.is_empty()) return result;
    std::size_t cut = kMaxRank - 1;
    std::int64_t below = box.cells() / box.length(kMaxRank - 1);  // cells of one cell along the axis
    while (cut > 1 && cells < below)
        below /= box.length(static_cast<int>(--cut));
    const std::int64_t most = std::max<std::int64_t>(cells / below, 1);
    Box slab = box;
    const auto begin_at = [&](std::size_t axis, std::int64_t first) {
        slab.begin[axis] = first;
        slab.end[axis] = std::min(first + (axis == cut ? most : 1), box.end[axis]);
    };
    for (std::size_t axis = cut; axis < kMaxRank; ++axis)
        begin_at(axis, box.begin[axis]);
    for (;;) {
        result.push_back(slab);
        std::size_t axis = cut;
        for (; axis < kMaxRank && slab.end[axis] == box.end[axis]; ++axis)
            begin_at(axis, box.begin[axis]);
        if (axis == kMaxRank) return result;
        begin_at(axis, slab.end[axis]);
    }
}

// Calls work(index in `one`, index in `other`, cells) for the cells of `part`, which both boxes have: in
// runs, as long as they can be, that lie side by side in the dense arrays of both.
template <class Work>
void for_runs(const Box& part, const Box& one, const Box& other, const Work& work) {
    if (part.is_empty()) return;
    std::size_t next = 1;  // the first axis that a run does not go along
    std::int64_t cells = part.length(0);
    const auto spans = [&](int axis) {
        return part.length(axis) == one.length(axis) && part.length(axis) == other.length(axis);
    };
    for (; next < kMaxRank && spans(static_cast<int>(next) - 1); ++next)
        cells *= part.length(static_cast<int>(next));
    std::array<std::int64_t, kMaxRank> cell = part.begin;
    do {
        work(one.index(cell), other.index(cell), cells);
    } while (advance(cell, part, next));
}

// Whether the cells of `part` lie side by side in the dense array of `box`, which has them.
inline bool is_contiguous(const Box& part, const Box& box) {
    bool all = true;  // all cells of the box along the axes before
    for (int axis = 0; axis < kMaxRank; ++axis) {
        if (!all && part.length(axis) != 1) return false;
        all = all && part.length(axis) == box.length(axis);
    }
    return true;
}

}  // namespace halo::rt
