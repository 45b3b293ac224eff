// The part of a larger grid that a program computes.
#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "compiler/ir/ids.h"
#include "runtime/core/grid_rules.h"

namespace halo::ir {

// Where a program computes a part of a larger grid, by axis: idx, pos and noise are those of the whole grid,
// and so is len. Regions and boundaries count from the part's own faces. A part has whole cells of each
// coarser grid, but for those at the high end that lie in none.
struct Window {
    struct Along {
        ParamId first;   // the index, on the whole grid, of the part's first cell; below 0 where that wraps
        ParamId length;  // cells of the whole grid
        bool wraps = false;  // cells past an end of the whole grid are those at its other end
        friend bool operator==(const Along&, const Along&) = default;
    };
    std::array<std::optional<Along>, rt::kMaxRank> axes;  // none: the part has all cells along it

    bool is_part() const {
        return std::ranges::any_of(axes, [](const auto& along) { return along.has_value(); });
    }
};

}  // namespace halo::ir
