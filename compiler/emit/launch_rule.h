// How to launch a plan's kernels by hand, as a comment: for those who keep kernels alone.
#pragma once

#include <string>

#include "compiler/kernel/program.h"
#include "runtime/core/launch_plan.h"

namespace halo::emit {

// Lines that begin with `//`: the launches of a time step in order, with blocks, threads and arguments; what
// the arguments are; how arrays lie, and what must stand in halos before the first step.
std::string print_launch_rule(const kernel::Program& kernels, const rt::LaunchPlan& plan);

}  // namespace halo::emit
