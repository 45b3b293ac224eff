// Where points lie at the start of a run, and the numbers that are injected at them.
#pragma once

#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/machine.h"
#include "compiler/driver/running/request.h"

namespace halo::driver {

// Sets all points of the program: places from a file (.npy, points × axes) or the run block (`run` may be
// null), numbers from files (.npy; a trace that is injected steps × points, a column one for each point) or
// computed for as many steps as are asked for. Throws rt::Error for files that are not there or of another
// shape.
void fill_points(Engine& engine, const ir::Program& program, const sema::RunSpec* run,
                 const RunRequest& request, Machine& machine);

}  // namespace halo::driver
