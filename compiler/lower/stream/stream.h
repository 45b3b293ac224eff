// stream (2.5D): a block traverses the slowest axis; planes arrive in a ring in shared memory and pass
// through a queue in registers.
#pragma once

#include "compiler/lower/shared/strategy.h"

namespace halo::lower {

// Throws UnsupportedError where the program has one axis.
StrategyResult lower_stream(Context& context, const schedule::Schedule& schedule, Images& images);

}  // namespace halo::lower
