// Makes the modules of the CPU back end: needs LLVM.
#pragma once

#include "compare_engines.h"
#include "compiler/emit/emit.h"
#include "runtime/cpu/jit.h"

namespace halo::test {

// Compiled anew each time: random programs would fill the cache.
inline std::vector<std::unique_ptr<rt::Module>> load_cpp(const lower::Lowered& lowered, rt::Device& device) {
    rt::JitOptions options;
    options.use_cache = false;
    std::vector<std::unique_ptr<rt::Module>> modules;
    modules.push_back(
        device.load(rt::compile_object(emit::print_cpp(lowered.kernels), options).bytes, lowered.plan.name));
    return modules;
}

}  // namespace halo::test
