// Values that follow from where a cell lies on the whole grid, of which the kernel's may be a part.
#pragma once

#include <array>

#include "compiler/lower/shared/context.h"

namespace halo::lower {

// index: on the kernel's grid.
kernel::Expr coordinate_of(Context& context, const ir::Coordinate& coordinate, const CellIndex& index,
                           kernel::Type type);
kernel::Expr noise_of(Context& context, const ir::Noise& noise, const CellIndex& index, kernel::Type type);

// The cell of another grid along an axis: (times * at + offset) / over, rounded down. `at` is a cell of the
// grid, and division truncates.
kernel::Expr cell_read(const kernel::Expr& at, const ir::AxisMap& map, int offset);

}  // namespace halo::lower
