// Large arrays in the machine's own memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/core/device.h"

namespace halo::rt {

// Pages are taken when they are first written, near the thread that does. Aligned to 256 bytes; arrays of
// several megabytes lie in huge pages where the machine gives them. Throws Error: out_of_memory, with the
// figures.
void* allocate_host(std::int64_t bytes);
void release_host(void* address) noexcept;

// Free is what can be had without swapping, within the control group's bound.
MemoryInfo host_memory();

}  // namespace halo::rt
