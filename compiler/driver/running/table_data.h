// The rows of tables at the start of a run.
#pragma once

#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/machine.h"
#include "compiler/driver/running/request.h"

namespace halo::driver {

// Sets every table of the program: from its file, else row by row as the run block says (`run` may be null).
// A file holds rows × given columns (.npy, of two dimensions) or one row a line (.csv). Throws rt::Error for
// files that are not there or of another shape.
void fill_tables(Engine& engine, const ir::Program& program, const sema::RunSpec* run,
                 const RunRequest& request, Machine& machine);

}  // namespace halo::driver
