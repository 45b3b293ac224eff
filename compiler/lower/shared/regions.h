// The cells that a statement is for, as a kernel asks for them: boxes and margins.
#pragma once

#include "compiler/lower/shared/context.h"

namespace halo::lower {

// The first cell along an axis that a region has, and the cell past its last; clipped to the grid.
struct Bounds {
    kernel::Expr begin, end;
};
Bounds region_bounds(Context& context, const ir::Region& region, int axis);

// Whether a cell of the grid is in a region and not in the margins; empty where all are.
kernel::Expr inside_cells(Context& context, const ir::Region& region, const ir::Margins& margins,
                          const std::array<kernel::Expr, 3>& index);

// What is left of margins to ask for where all cells are of the region.
ir::Margins margins_within(const ir::Region& region, ir::Margins margins);

}  // namespace halo::lower
