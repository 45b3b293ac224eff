// Sizes and counts as people read them, for messages.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "runtime/core/launch_plan.h"

namespace halo::rt {

std::string bytes_text(std::int64_t bytes);  // "512 bytes", "1.5 MiB", "139.8 GiB"
std::string extent_text(int rank, const std::array<std::int64_t, kMaxRank>& extent);  // "128 x 128 x 64"

}  // namespace halo::rt
