// The machine itself as a Device (runtime/core/device.h). Every call returns when its work is done.
//
// A module's code is an object file that compile_object (jit.h) made. A kernel is
//
//     extern "C" void NAME(void* const* arguments, long begin, long end)
//
// where arguments[i] points at the value of argument i, as for a GPU, and [begin, end) are blocks out of
// blocks[0] * blocks[1] * blocks[2]. The plan's tile covers the whole grid along all axes but the slowest, or
// but the two slowest, so that blocks are planes or rows, one plane's after the other's; each thread takes
// one contiguous range of them.
#pragma once

#include <memory>

#include "runtime/core/device.h"

namespace halo::rt {

// threads: 0 for as many as the machine has cores, or HALO_NUM_THREADS. Throws Error: no_device without a
// compiler (see cpu_available() in jit.h), bad_argument for a negative number of threads.
std::unique_ptr<Device> make_cpu_device(int threads = 0);

}  // namespace halo::rt
