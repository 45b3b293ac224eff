// tile: a block stages its cells and their halo in shared memory.
#pragma once

#include "compiler/lower/shared/strategy.h"

namespace halo::lower {

StrategyResult lower_tile(Context& context, const schedule::Schedule& schedule, Images& images);

}  // namespace halo::lower
