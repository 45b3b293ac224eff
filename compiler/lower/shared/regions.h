// Guards for the cells that a statement is for: boxes and margins.
#pragma once

#include "compiler/lower/shared/context.h"

namespace halo::lower {

// The first cell of a region along an axis, and the cell past its last one; clipped to the grid.
struct Bounds {
    kernel::Expr begin, end;
};
Bounds region_bounds(Context& context, const ir::Region& region, int axis);

// Whether a cell of the grid is in a region and not in the margins; empty where all are.
kernel::Expr inside_cells(Context& context, const ir::Region& region, const ir::Margins& margins,
                          const CellIndex& index);

}  // namespace halo::lower
