// Which scalars of a plan are computed on the device. Not for other rooms.
#pragma once

#include <cstddef>

#include "runtime/core/launch_plan.h"

namespace halo::lower {

// Whether the argument is a scalar that is another one in each step.
bool changes(const rt::Argument& argument);

// The repeat that a kernel is of; nullptr: it is done once in a step.
const rt::RepeatPlan* repeat_of(const rt::LaunchPlan& plan, std::size_t kernel);

// Whether the arrays have a part of a larger grid.
bool is_part_of_grid(const rt::LaunchPlan& plan);

// Whether all scalars that change can be computed on the device, and there are some.
bool are_all_computed(const rt::LaunchPlan& plan);

// Whether a scalar of that kernel follows from what the kernel's own repeat reduces, or, where a condition
// that the device finds ends some repeat, from any reduction: so that no step and no iteration waits for the
// host, and the launches of all iterations are the same. How many of these there are may depend on the order
// of a sum in any case, as the device adds up what the condition reads: so the order may be the device's
// here.
bool is_computed_beside_repeats(const rt::LaunchPlan& plan, std::size_t kernel, const rt::Argument& argument);

}  // namespace halo::lower
