// GPUs that code is compiled for where they are not.
#pragma once

#include <string>
#include <vector>

#include "compiler/schedule/schedule.h"

namespace halo::driver {

// "sm_80" …: those whose limits are known.
std::vector<std::string> known_archs();

// The largest GPU of an architecture, with the bandwidths of an H200 where no others are known: they serve to
// choose between schedules. Throws CommandError (usage) for one that is not known.
schedule::Target offline_target(const std::string& arch);

}  // namespace halo::driver
