// The pass for lets that are copies of what the step began with.
//
//   let u_0 = u
//   let u_1 = u_0 + dt * laplacian(u_0)
// reads `u_0` at neighbours, so that it would be stored by a sweep of its own. What reads it reads u. Stages
// of loops over names (`{k}_{s-1}`) are written so, and names given to components.
//
// That is done for inputs and states at the level t or before where the copy is at the cell itself, in the
// same type, and past the faces where it is read shows what the field shows there. Every bit of the result is
// the same.
#pragma once

#include "compiler/ir/program.h"

namespace halo::passes {

void skip_copies(ir::Program& program);

}  // namespace halo::passes
