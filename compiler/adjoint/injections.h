// What points add to a state: where it is an output of its own first, which is 0 but around the points, it
// takes a sweep that sets it to 0 and one that reads it.
#pragma once

#include "compiler/ir/program.h"

namespace halo::adjoint {

// Injects into states such outputs of the program as one state alone adds in its statement.
void inject_into_states(ir::Program& program);

}  // namespace halo::adjoint
