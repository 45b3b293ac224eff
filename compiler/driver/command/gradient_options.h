// The options of haloc gradient.
#pragma once

#include <CLI/CLI.hpp>

#include "compiler/driver/command/commands.h"

namespace halo::driver {

void add_gradient_options(CLI::App& command, GradientArguments& options);

}  // namespace halo::driver
