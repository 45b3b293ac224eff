// Kernel programs as source text: CUDA for NVRTC and nvcc, C++ for the in-process clang. The printers take no
// decisions: what a kernel does and how it is laid out is settled in the kernel program.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernel/program.h"

namespace halo::emit {

// Self-contained CUDA C++: no includes, kernels with C linkage. To be compiled with -fmad=false: every fused
// multiply-add that is wanted is written out.
std::string print_cuda(const kernel::Program& program);

// The same in two texts, to be compiled apart: these kernels, and all others.
struct CudaParts {
    std::string others;
    std::string kernels;
};
CudaParts print_cuda_parts(const kernel::Program& program, const std::vector<std::string>& kernels);

// Self-contained C++ (GNU builtins, no includes): each kernel is `void NAME(void* const* args, long begin,
// long end, long planes, bool streams)`, of which runtime/host/host_device.h says what it does. To be
// compiled with -ffp-contract=off.
std::string print_cpp(const kernel::Program& program);

}  // namespace halo::emit
