// One program, from its text to figures.
#pragma once

#include <memory>

#include "compiler/bench/programs_results.h"
#include "compiler/driver/running/machine.h"

namespace halo::bench {

// Each way to do the steps is verified before it is timed, on the grid that is timed and from the same data:
// on a GPU against single steps of one cell a thread, all bits of all fields (sums that depend on the order
// may differ as haloc tune allows); on a CPU against the interpreter. After the timed steps all must still be
// finite.
ProgramResult measure_program(driver::Machine& machine, const Program& program);

}  // namespace halo::bench
