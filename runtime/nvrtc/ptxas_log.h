// Reading what ptxas -v prints.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/nvrtc/nvrtc.h"

namespace halo::rt {

// The kernels of a log, in its order; lines that are not known are passed over.
std::vector<KernelUsage> parse_ptxas_log(std::string_view log);

}  // namespace halo::rt
