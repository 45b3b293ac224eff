// The kernels that do several time steps at once, or a step in several passes over memory, as the time block
// of a launch plan.
#pragma once

#include "compiler/lower/lower.h"
#include "compiler/lower/shared/context.h"
#include "compiler/lower/shared/names.h"
#include "compiler/schedule/plan.h"

namespace halo::lower {

// layout: of the whole program. Throws UnsupportedError where the program cannot be grouped so.
void add_grouping(const ir::Program& program, const ProgramLayout& layout, const schedule::Grouping& grouping,
                  Names& kernel_names, Lowered& lowered);

}  // namespace halo::lower
