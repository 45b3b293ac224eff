// The iterations of a repeat as the time steps of a program of their own, so that a kernel for several steps
// can do several iterations in one pass over memory.
#pragma once

#include <string>
#include <variant>

#include "compiler/schedule/temporal_core.h"

namespace halo::schedule {

// Of the repeat with the most iterations that can be done so. What it carries from one iteration to the next
// is a state of the core, and what comes from outside of it an input, at level 0. Each of its statements
// gives all cells of a field that the next iteration reads, or of a let, at once; no condition ends it, and
// nothing of an iteration depends on the step's number or a reduction. The text says why there is none.
std::variant<TemporalCore, std::string> iterated_core(const ir::Program& program);

}  // namespace halo::schedule
