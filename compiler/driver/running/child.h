// A process that a run leaves behind: what it could not wait for is compiled there, for the next run.
#pragma once

#include <string>

#include "compiler/driver/running/run_arguments.h"

namespace halo::driver {

// Leaves `haloc compile` of what the run is of, where its kernel for several steps is not in the cache.
// device: "cuda:0". key: of that kernel in the cache; empty: it is there, or there is none. Nothing is done
// with
// --no-background or HALOCLINE_BACKGROUND=off, where another process is at that kernel, for a spec that is no
// file, without a cache, or where no process can be started.
void leave_kernel(const RunArguments& arguments, const std::string& device, const std::string& key);

}  // namespace halo::driver
