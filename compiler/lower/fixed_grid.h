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

}  // namespace halo::lower
