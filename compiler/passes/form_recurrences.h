// Finds the recurrences of sweeps that may be done in parts (ir/recurrences.h).
#pragma once

#include "compiler/ir/program.h"

namespace halo::passes {

// Of a sweep that a pass before has given another form, which has none, there are none: it is done cell after
// cell.
void form_recurrences(ir::Program& program);

}  // namespace halo::passes
