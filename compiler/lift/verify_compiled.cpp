// What Clang makes of a function, beside its spec.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include "compiler/lift/stand_ins.h"
#include "compiler/lift/verify.h"
#include "runtime/cpu/jit.h"

namespace halo::lift {

namespace {

[[noreturn]] void stop_unknown_call() {
    static const char text[] = "a function that is defined elsewhere was called\n";
    if (::write(2, text, sizeof text - 1) < 0) std::abort();
    std::abort();
}

}  // namespace

Verification verify(const Options& options, const Lifted& lifted) {
    const Harness harness = write_harness(lifted);
    rt::CompiledObject object;
    object.bytes = compile_with(options.source, harness.text, harness.inserted);
    rt::JitOptions jit;
    jit.symbols = thread_symbols();
    jit.resolve = [](const std::string& name) -> void* {
        if (void* found = ::dlsym(RTLD_DEFAULT, name.c_str())) return found;
        return reinterpret_cast<void*>(&stop_unknown_call);  // of other functions of the file
    };
    rt::JitModule module(object, jit);
    const auto called = [&module](const char* name) {
        return [&module, name](void** values) { module.function<void(void**)>(name)(values); };
    };
    return verify(lifted, harness, {called("halo_lift_call"), called("halo_lift_addresses")});
}

}  // namespace halo::lift
