// How haloc ends for errors of the runtime and of the interface for host programs.
#pragma once

#include "compiler/driver/exit_code.h"
#include "halocline/error.hpp"
#include "runtime/core/error.h"

namespace halo::driver {

ExitCode exit_code(rt::ErrorCode code);
ExitCode exit_code(halocline::ErrorCode code);

}  // namespace halo::driver
