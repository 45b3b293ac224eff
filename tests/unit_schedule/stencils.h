// Small stencil programs, built by hand.
#pragma once

#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/program.h"
#include "compiler/schedule/footprint.h"

namespace halo::test {

// u[t+1] = the sum of u at the offsets (a sum of n - 1 additions), on a periodic grid of `rank` axes.
ir::Program sum_stencil(int rank, ir::Scalar type, const std::vector<ir::Offset>& offsets);

std::vector<ir::Offset> star(int rank, int radius);
std::vector<ir::Offset> box(int rank, int radius);
std::vector<ir::Offset> line(int axis, int radius);  // along one axis, without the centre

// Of the program's first stage.
schedule::Footprint footprint_of(const ir::Program& program);

}  // namespace halo::test
