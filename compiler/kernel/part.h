// Parts of a program, to be compiled apart.
#pragma once

#include <functional>
#include <string>

#include "compiler/kernel/program.h"

namespace halo::kernel {

// The kernels that are wanted, with the helpers that they call, the named constants that these use, and what
// all kernels share.
Program part_of(const Program& program, const std::function<bool(const KernelFunction& kernel)>& wanted);

// Of that name, which a launch plan has: throws InternalError where the program lacks it.
const KernelFunction& kernel_named(const Program& program, const std::string& name);

}  // namespace halo::kernel
