// The options of `haloc view`, and those of a run that is shown live.
#pragma once

#include <CLI/CLI.hpp>

#include "compiler/driver/running/run_arguments.h"

namespace halo::driver {

void add_view_options(CLI::App& command, RunArguments& run, LiveArguments& live);

// --live, --port and --paused; gives the first.
CLI::Option* add_live_options(CLI::App& command, LiveArguments& live);

}  // namespace halo::driver
