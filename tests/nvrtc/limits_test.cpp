// The kernels that haloc bench measures limits with, through NVRTC: they compute in registers alone, and
// their arithmetic is there.
#include <set>

#include "catch.h"
#include "compiler/bench/limit_kernels.h"
#include "runtime/nvrtc/nvrtc.h"

using namespace halo;

TEST_CASE("the kernels that measure limits compile, without spills") {
    REQUIRE(rt::Nvrtc::find() != nullptr);
    const rt::CompiledCuda compiled = rt::Nvrtc::find()->compile(bench::limit_kernels(), "limits.cu", {});
    std::set<std::string> names;
    for (const rt::KernelUsage& usage : compiled.usage) {
        INFO(usage.name);
        names.insert(usage.name);
        CHECK(usage.spill_store_bytes == 0);
        CHECK(usage.stack_bytes == 0);
        CHECK(usage.registers <= 64);
    }
    CHECK(names == std::set<std::string>{"bench_clock", "bench_copy", "bench_fma_f32", "bench_fma_f64"});
}
