// The spec of a run, with what the command line says in the place of lines of its run block.
#pragma once

#include "compiler/driver/console/console.h"
#include "compiler/driver/running/run_arguments.h"
#include "compiler/driver/spec/spec.h"

namespace halo::driver {

// As read_spec(). Mistakes in --init and --until are shown with their places, and end with ExitCode::usage.
CheckedSpec read_run_spec(const RunArguments& arguments, const Console& console);

}  // namespace halo::driver
