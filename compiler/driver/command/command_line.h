// The options of haloc and of its commands, which are in cmd_*.cpp.
#pragma once

#include "compiler/driver/console/console.h"
#include "compiler/driver/console/exit_code.h"
#include "runtime/ranks/ranks.h"

namespace halo::driver {

// Parses the arguments and runs the command that they name. Throws CommandError (usage) for arguments that
// are not understood, and what the command throws.
ExitCode run_command(int argc, const char* const* argv, rt::Ranks& ranks, Console& console);

}  // namespace halo::driver
