// In which order the cells of a statement are done (sweeps.h).
#pragma once

#include <optional>

namespace halo::ir {

// Along one axis one after the other, so that a cell reads what the statement has given to those before it.
// Lines along the axis are independent of each other. With a second axis within the first, all places along
// the second are done, in their order, at each place along the first; planes of the two are independent of
// each other. Statements of the same number stand one after the other and are done together, all of them at
// each cell. What sweeps may read is in sweeps.h.
struct LineSweep {
    int axis = 0;
    bool upwards = true;  // from the low face
    int number = 0;
    bool in_parts = false;  // a line may be cut into parts that are done side by side (recurrences.h)
    struct Inner {
        int axis = 0;
        bool upwards = true;
        friend bool operator==(const Inner&, const Inner&) = default;
    };
    std::optional<Inner> inner = {};  // never of one in parts
    bool goes_along(int each) const { return each == axis || (inner && each == inner->axis); }
    friend bool operator==(const LineSweep&, const LineSweep&) = default;
};

}  // namespace halo::ir
