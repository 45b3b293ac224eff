#include "runtime/core/grid_rules.h"

#include <fmt/format.h>

#include "runtime/core/error.h"
#include "runtime/core/text.h"

namespace halo::rt {

void check_extents(int rank, const Extent& extent) {
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
    std::int64_t left = kMaxElements;  // elements that the axes before leave to those that follow
    for (const std::int64_t length : extent)
        left /= length;
    if (left == 0)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("a grid of {} cells is too large to index", extent_text(rank, extent)));
}

void check_cells_needed(const std::vector<std::string>& axes, const std::vector<CellsNeeded>& needs,
                        const Extent& extent) {
    for (const CellsNeeded& need : needs) {
        const auto axis = static_cast<std::size_t>(need.axis);
        if (extent[axis] / need.factor >= need.cells) continue;
        if (need.factor > 1)
            throw Error(
                ErrorCode::bad_argument,
                fmt::format("the boundary of '{}' at {}.{} is computed from {} cells, and on coarse({}) "
                            "there are {} along {}; give the grid {} or more",
                            need.field, axes[axis], need.side == 0 ? "low" : "high", need.cells, need.factor,
                            extent[axis] / need.factor, axes[axis], need.cells * need.factor));
        throw Error(
            ErrorCode::bad_argument,
            fmt::format("the boundary of '{}' at {}.{} is computed from {} cells, and the grid has {} "
                        "along {}; give it {} or more",
                        need.field, axes[axis], need.side == 0 ? "low" : "high", need.cells, extent[axis],
                        axes[axis], need.cells));
    }
}

void check_coarse_grids(const std::vector<std::string>& axes, const std::vector<CoarseGrid>& fields,
                        const Extent& extent) {
    for (const CoarseGrid& field : fields) {
        for (std::size_t axis = 0; axis < axes.size(); ++axis) {
            const std::int64_t rest = extent[axis] % field.factor;
            if (extent[axis] < field.factor)
                throw Error(
                    ErrorCode::bad_argument,
                    fmt::format("'{}' lies on coarse({}), and of {} cells along {} that makes none; give "
                                "the grid {} or more",
                                field.field, field.factor, extent[axis], axes[axis], field.factor));
            if (field.is_periodic[axis] && rest != 0)
                throw Error(
                    ErrorCode::bad_argument,
                    fmt::format("'{}' lies on coarse({}) and is periodic along {}, where the grid has {} "
                                "cells; give it a multiple of {}",
                                field.field, field.factor, axes[axis], extent[axis], field.factor));
        }
    }
}

}  // namespace halo::rt
