#include "runtime/core/grid_rules.h"

#include <fmt/format.h>

#include "runtime/core/error.h"
#include "runtime/core/text.h"

namespace halo::rt {

void check_extents(int rank, const std::array<std::int64_t, kMaxRank>& extent) {
    if (rank < 1 || rank > kMaxRank)
        throw Error(ErrorCode::bad_argument, fmt::format("a grid has 1 to {} axes, not {}", kMaxRank, rank));
    for (int axis = 0; axis < kMaxRank; ++axis) {
        if (axis >= rank && extent[axis] != 1)
            throw Error(ErrorCode::bad_argument,
                        fmt::format("the grid has {} cells along axis {}, but the program has {} {}",
                                    extent[axis], axis + 1, rank, rank == 1 ? "axis" : "axes"));
        if (extent[axis] < 1 || extent[axis] > kMaxExtent)
            throw Error(ErrorCode::bad_argument,
                        fmt::format("the grid has {} cells along axis {}; between 1 and {} are possible",
                                    extent[axis], axis + 1, kMaxExtent));
    }
    if (extent[0] * extent[1] > kMaxElements / extent[2])  // the first two below 2^31
        throw Error(ErrorCode::bad_argument,
                    fmt::format("a grid of {} cells is too large to index", extent_text(rank, extent)));
}

void check_cells_needed(const std::vector<std::string>& axes, const std::vector<CellsNeeded>& needs,
                        const std::array<std::int64_t, kMaxRank>& extent) {
    for (const CellsNeeded& need : needs) {
        const auto axis = static_cast<std::size_t>(need.axis);
        if (extent[axis] >= need.cells) continue;
        throw Error(
            ErrorCode::bad_argument,
            fmt::format("the boundary of '{}' at {}.{} is computed from {} cells, and the grid has {} "
                        "along {}; give it {} or more",
                        need.field, axes[axis], need.side == 0 ? "low" : "high", need.cells, extent[axis],
                        axes[axis], need.cells));
    }
}

}  // namespace halo::rt
