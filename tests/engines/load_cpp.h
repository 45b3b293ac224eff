// Makes the modules of the CPU back end: needs LLVM.
#pragma once

#include "compare_engines.h"
#include "compiler/emit/emit.h"
#include "runtime/cpu/jit.h"

namespace halo::test {

// Compiled without the cache of the user, which random programs would fill. The last text is kept: one
// program is often loaded on several devices.
inline std::vector<std::unique_ptr<rt::Module>> load_cpp(const lower::Lowered& lowered, rt::Device& device) {
    static thread_local std::string last_text, last_object;
    const std::string text = emit::print_cpp(lowered.kernels);
    if (text != last_text) {
        rt::JitOptions options;
        options.use_cache = false;
        last_object = rt::compile_object(text, options).bytes;
        last_text = text;
    }
    std::vector<std::unique_ptr<rt::Module>> modules;
    modules.push_back(device.load(last_object, lowered.plan.name));
    return modules;
}

}  // namespace halo::test
