#include "compiler/lower/shared/regions.h"

#include <algorithm>

namespace halo::lower {

using kernel::Expr;

Bounds region_bounds(Context& context, const ir::Region& region, int axis) {
    const ir::Region::Range& range = region.ranges[axis];
    Bounds bounds;
    if (range.begin.from_high) {
        bounds.begin = context.extent(axis) + range.begin.offset;
        if (range.begin.offset < -1) bounds.begin = kernel::select(bounds.begin < 0, 0, bounds.begin);
    } else {
        bounds.begin = std::max(range.begin.offset, 0);
    }
    if (range.end.from_high) {
        bounds.end = context.extent(axis) + std::min(range.end.offset, 0);
    } else {
        bounds.end = context.extent(axis);
        if (range.end.offset > 1)
            bounds.end = kernel::select(bounds.end < range.end.offset, bounds.end, range.end.offset);
        else
            bounds.end = std::max(range.end.offset, 0);
    }
    return bounds;
}

Expr inside_cells(Context& context, const ir::Region& region, const ir::Margins& margins,
                  const CellIndex& index) {
    Expr result;
    for (int axis = 0; axis < context.rank(); ++axis) {
        const auto [low, high] = margins[axis];
        const Expr& at = index[axis];
        const ir::Region::Range& range = region.ranges[axis];
        const int first = range.begin.from_high ? low : std::max(low, range.begin.offset);
        const int past = range.end.from_high ? std::max(high, -range.end.offset) : high;
        if (first > 0) result = result && at >= first;
        if (past > 0) result = result && at < context.extent(axis) - past;
        if (range.begin.from_high) result = result && at >= context.extent(axis) + range.begin.offset;
        if (!range.end.from_high) result = result && at < range.end.offset;
    }
    return result;
}

}  // namespace halo::lower
