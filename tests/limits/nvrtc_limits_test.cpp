// The measuring kernels compile, each without spills.
#include "catch.h"
#include "runtime/limits/measure.h"
#include "runtime/nvrtc/nvrtc.h"
#include "skip.h"

using namespace halo::rt;

namespace {
const SkipUnless compiler(Nvrtc::find() != nullptr, Nvrtc::why_missing());
}

TEST_CASE("the kernels that measure a GPU compile") {
    const CompiledCuda compiled = Nvrtc::find()->compile(kLimitsKernels, "limits.cu", {});
    CHECK(compiled.usage.size() == 4);
    for (const KernelUsage& usage : compiled.usage) {
        INFO(usage.name);
        CHECK(usage.spill_load_bytes + usage.spill_store_bytes == 0);
        CHECK(usage.registers <= 64);  // four blocks of 256 threads an SM
    }
}
