// The options of haloc lift.
#pragma once

#include <CLI/CLI.hpp>

#include "compiler/driver/command/commands.h"

namespace halo::driver {

void add_lift_options(CLI::App& command, LiftOptions& options);

}  // namespace halo::driver
