// What a well-formed StencilProgram is. Sema and every pass must leave one behind; where HALO_VERIFY is set
// the pipeline checks after each pass.
//
// The promises:
//   arena       operands come before their users; every id names something; a handle's kind fits its use
//   types       as program.h states for each node; a condition is boolean, arithmetic is not
//   reads       offsets past the rank are 0; t+1 of states only, after they are written; t-k within the
//               history; outputs and lets only after they are written
//   writes      states at t+1, outputs and lets at t, inputs never; each exactly once, with a value of its
//               type
//   uniform     spacing, origin and the values of fixed faces read no field, no idx and no pos
//   boundaries  periodic on both faces of an axis or on neither; halos and margins >= 0, and 0 past the rank
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::ir {

// One sentence for each broken promise; empty for a well-formed program. Never throws, whatever it is given.
std::vector<std::string> verify(const Program& program);

}  // namespace halo::ir
