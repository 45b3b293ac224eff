#include "runtime/cpu/jit.h"

#include <cmath>

#include "catch.h"
#include "runtime/core/error.h"

using namespace halo::rt;

TEST_CASE("jit: text becomes a function") {
    JitOptions options;
    options.use_cache = false;
    const CompiledObject object = compile_object(R"(
        extern "C" void saxpy(void* const* args, long begin, long end) {
            const float* x = *(const float**)args[0];
            float* y = *(float**)args[1];
            const float a = *(const float*)args[2];
            for (long i = begin; i < end; ++i) y[i] = a * x[i] + y[i];
        }
        extern "C" double e(double x) { return __builtin_exp(x) + __builtin_sqrt(x); })",
                                                 options);
    CHECK(object.seconds > 0);
    const JitModule module(object);
    float x[3] = {1, 2, 3}, y[3] = {10, 20, 30}, a = 2;
    float *px = x, *py = y;
    void* arguments[] = {&px, &py, &a};
    auto* saxpy = module.function<void(void* const*, long, long)>("saxpy");
    REQUIRE(saxpy != nullptr);
    saxpy(arguments, 1, 3);
    CHECK(y[0] == 10);
    CHECK(y[2] == 36);
    CHECK(module.find("saxpby") == nullptr);
    auto* e = module.function<double(double)>("e");
    CHECK(e(0.3) == std::exp(0.3) + std::sqrt(0.3));
}
