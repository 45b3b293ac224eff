#pragma once

#include <cstdint>

namespace halo::driver {

// The operating system's estimate of the memory available without swapping; 0 where there is none.
std::int64_t available_memory();

}  // namespace halo::driver
