// What a GPU delivers at most: memories, launches, barriers. For choosing schedules by figures of the device
// at hand.
#pragma once

#include <functional>
#include <string>

#include "runtime/cuda/cuda.h"

namespace halo::rt {

// 0: not measured. Bytes a second count what is read and what is written.
struct DeviceLimits {
    double copy_bandwidth = 0;        // large arrays, one element of 16 bytes a thread
    double l2_bandwidth = 0;          // copies within the L2 cache
    double launch_seconds = 0;        // from one empty kernel to the next
    double graph_launch_seconds = 0;  // the same, replayed as a graph
    double barrier_seconds = 0;       // of all blocks, one an SM, by a counter in memory
};

// The kernels as CUDA text, for a compiler.
extern const char* const kLimitsKernels;

// CUDA text to what the device loads (a CUBIN); throws Error.
using CompileText = std::function<std::string(const std::string& text, const std::string& name)>;

// Takes a second or two, and up to 8 GiB of the device's memory. Each figure is the median of several
// measurements, and what was copied and read is checked. Throws Error: of the device, and launch_failed where
// a copy came out wrong. A barrier that does not come through, as where other work holds some of the SMs,
// leaves barrier_seconds 0.
DeviceLimits measure_limits(CudaDevice& device, const CompileText& compile);

}  // namespace halo::rt
