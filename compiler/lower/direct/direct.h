// direct: a thread computes a box of neighbouring cells from registers; neighbours come through the caches.
#pragma once

#include "compiler/lower/shared/strategy.h"

namespace halo::lower {

StrategyResult lower_direct(Context& context, const schedule::Schedule& schedule, Images& images);

// Where the stage is a sweep along an axis, or along two.
StrategyResult lower_sweep(Context& context, const schedule::Schedule& schedule, Images& images);
// Of these one along an axis by several threads for each line: where the schedule has several along the axis.
StrategyResult lower_parts(Context& context, const schedule::Schedule& schedule, Images& images);
// And one along two.
StrategyResult lower_planes(Context& context, const schedule::Schedule& schedule, Images& images);

// Where the stage sums over tables.
StrategyResult lower_table(Context& context, const schedule::Schedule& schedule, Images& images);

}  // namespace halo::lower
