// haloc lift --all: what lifts of all functions of a build, or of files.
#pragma once

#include "compiler/driver/command/commands.h"
#include "compiler/lift/lift.h"

namespace halo::driver {

// how: all but the source. Throws CommandError.
ExitCode lift_all(const LiftOptions& options, const lift::Options& how, const Console& console);

}  // namespace halo::driver
