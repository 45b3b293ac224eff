// Parts of a program, to be compiled apart.
#pragma once

#include <functional>

#include "compiler/kernel/program.h"

namespace halo::kernel {

// The kernels that are wanted, with the helpers that they call, and what all kernels share.
Program part_of(const Program& program, const std::function<bool(const KernelFunction& kernel)>& wanted);

}  // namespace halo::kernel
