// Makes the modules of the CPU back end: needs LLVM.
#pragma once

#include "compare_engines.h"
#include "compiler/emit/emit.h"
#include "runtime/cpu/jit.h"

namespace halo::test {

// Compiled without the cache of the user, which random programs would fill. The last text is kept: one
// program is often loaded on several devices.
inline std::vector<std::unique_ptr<rt::Module>> load_cpp_with(const lower::Lowered& lowered,
                                                              rt::Device& device, int optimization) {
    static thread_local std::string last_text, last_object;
    const std::string text = emit::print_cpp(lowered.kernels) + "// -O" + std::to_string(optimization);
    if (text != last_text) {
        rt::JitOptions options;
        options.use_cache = false;
        options.optimization = optimization;
        last_object = rt::compile_object(text, options).bytes;
        last_text = text;
    }
    std::vector<std::unique_ptr<rt::Module>> modules;
    modules.push_back(device.load(last_object, lowered.plan.name));
    return modules;
}

// As users' programs are.
inline std::vector<std::unique_ptr<rt::Module>> load_cpp(const lower::Lowered& lowered, rt::Device& device) {
    return load_cpp_with(lowered, device, rt::JitOptions{}.optimization);
}

// The same of an example, which is in the tests' cache where haloc has run it (tests/cli/process.cpp).
inline std::vector<std::unique_ptr<rt::Module>> load_example(const lower::Lowered& lowered,
                                                             rt::Device& device) {
    rt::JitOptions options;
    options.file_name = lowered.plan.name + ".cpp";
    std::vector<std::unique_ptr<rt::Module>> modules;
    const rt::CompiledObject object = rt::compile_object(emit::print_cpp(lowered.kernels), options);
    modules.push_back(device.load(object.bytes, lowered.plan.name));
    return modules;
}

// Ten times as quickly, for tests of what is launched, when and for which cells. What kernels promise the
// optimiser, of loops and of pointers, is not tested so.
inline std::vector<std::unique_ptr<rt::Module>> load_cpp_unoptimized(const lower::Lowered& lowered,
                                                                     rt::Device& device) {
    return load_cpp_with(lowered, device, 0);
}

}  // namespace halo::test
