// The pass for statements that some steps of a run alone have a use for: those of a chain with several
// phases.
//
// Of
//   u[t+1] = A
//   where step >= 1000 { u[t+1] = B }
// nobody sees what the first gives from step 1000 on, and the second does nothing before. So each is limited
// to its steps (Assign::within, Reduce::within), and the second has no condition left:
//   u[t+1] = A    within steps 0 to 1000
//   u[t+1] = B    within steps 1000 to …
// What they read is limited with them, and a reduction that is no number in other steps, too.
//
// A closed list: conditions that compare the step's number with constants, beginning after step 0; programs
// without points and repeats. Nothing is limited where no value is thrown away. Every bit of the result is
// the same.
#pragma once

#include "compiler/ir/program.h"

namespace halo::passes {

void limit_steps(ir::Program& program);

}  // namespace halo::passes
