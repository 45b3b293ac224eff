// The CPU's loops over the cells of one stage.
#pragma once

#include <string>
#include <vector>

#include "compiler/lower/shared/context.h"
#include "compiler/lower/shared/strategy.h"

namespace halo::lower {

// Plain loops over a range of blocks, from `begin` to before `end`: rows or planes of the grid, of a sweep
// the lines beside it.
StrategyResult lower_loops(Context& context);

// Names that the kernel reserves besides the usual ones.
std::vector<std::string> loop_roles(const StageView& stage);

}  // namespace halo::lower
