// Code for one grid alone: its extents and strides as constants, and without the guards that never fail
// there.
#pragma once

#include <array>
#include <cstdint>

#include "compiler/lower/lower.h"

namespace halo::lower {

// `lowered` is lower_cuda()'s, for any grid; afterwards the plan says which one it is for, and kernels take
// neither extents nor strides: those of arrays with padded rows (runtime/core/geometry.h). What is computed
// stays the same, bit for bit. Throws rt::Error (bad_argument) where such a grid is too large to index.
void fix_grid(Lowered& lowered, const rt::Extent& extent);

// The same for the kernels of several steps alone, where the plan has such: those of single steps stay as
// they are, and the plan's time block says which grid it is for. Kernels that take part in what pieces of a
// grid exchange stay for any grid, as pieces differ in size.
void fix_time_block(Lowered& lowered, const rt::Extent& extent);

}  // namespace halo::lower
