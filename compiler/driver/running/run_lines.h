// The spec of a run, with what the command line says in the place of lines of its run block.
#pragma once

#include <string>

#include "compiler/driver/console/console.h"
#include "compiler/driver/running/run_arguments.h"
#include "compiler/driver/spec/spec.h"

namespace halo::driver {

// Whether what `--plot` or `--movie` says is written as in a run block, with its file in quotes, and no
// FIELD=FILE.
bool is_run_line(const std::string& picture);

// As read_spec(). Mistakes in what is written as in a run block are shown with their places, and end with
// ExitCode::usage.
CheckedSpec read_run_spec(const RunArguments& arguments, const Console& console);

}  // namespace halo::driver
