// How haloc ends for errors of the runtime and of the interface for host programs.
#pragma once

#include <exception>

#include "compiler/driver/console/console.h"
#include "compiler/driver/console/exit_code.h"
#include "halocline/error.hpp"
#include "runtime/core/error.h"
#include "runtime/ranks/ranks.h"

namespace halo::driver {

ExitCode exit_code(rt::ErrorCode code);
ExitCode exit_code(halocline::ErrorCode code);

// What an exception of the command comes to. The text is empty where it has been shown: mistakes of a spec.
rt::Failure failure_of(const std::exception_ptr& trouble);

// Ends all ranks of the run. The failure is printed once, whichever rank it is that fails: where all do, the
// first does; what one finds by itself has its name before it.
ExitCode end_all(rt::Failure failure, rt::Ranks& ranks, Console& console);

// Where there may be too little memory for anything longer.
inline constexpr const char* kNoMemory = "error: this machine has not enough memory for that\n";
// For std::set_terminate(): some libraries need memory where nothing may be thrown, in destructors, say.
// Files are renamed once they are complete, so that nothing is lost.
[[noreturn]] void end_without_memory();

}  // namespace halo::driver
