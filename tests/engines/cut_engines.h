// Runs stencils in pieces of a grid that exchange every step.
#pragma once

#include <string>

#include "runtime/core/grid_rules.h"

namespace halo::test {

// What differs from the interpreter on the whole grid, on the CPU or on emulated CUDA.
std::string difference_in_pieces(const std::string& text, const rt::Extent& extent, const rt::Lengths& counts,
                                 int steps = 5);

}  // namespace halo::test
