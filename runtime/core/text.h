// Sizes and counts as people read them, for messages.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "runtime/core/launch_plan.h"

namespace halo::rt {

std::string bytes_text(std::int64_t bytes);               // "512 bytes", "1.5 MiB", "139.8 GiB"
std::string extent_text(int rank, const Extent& extent);  // "128 x 128 x 64"
// Of the cell of that index in a dense array: "3, 0, 7".
std::string cell_text(const Extent& extent, std::int64_t index);

}  // namespace halo::rt
