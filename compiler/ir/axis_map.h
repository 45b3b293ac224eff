// Which cells of a field on another grid a statement reads.
#pragma once

#include <array>
#include <compare>

#include "runtime/core/grid_rules.h"

namespace halo::ir {

// Which cell of an axis is read from cell i: (times * i + offset) / over, rounded down. One of the two is 1;
// where both are, the field lies on the grid of what reads it. Of a coarser statement, `times` is how much
// finer the field's grid is; of a finer one, `over` how much coarser.
struct AxisMap {
    int times = 1, over = 1;
    friend auto operator<=>(const AxisMap&, const AxisMap&) = default;
};
using GridMap = std::array<AxisMap, rt::kMaxRank>;

}  // namespace halo::ir
