// The limits of the GPU at hand: there, and in the order that memories have.
#include <memory>

#include "catch.h"
#include "runtime/limits/measure.h"
#include "runtime/nvrtc/nvrtc.h"
#include "skip.h"

using namespace halo::rt;

namespace {
const SkipUnless gpu(cuda_status().why.empty(), cuda_status().why);
const SkipUnless compiler(Nvrtc::find() != nullptr, Nvrtc::why_missing());
}  // namespace

TEST_CASE("the GPU's limits are measured, and what was copied is right") {
    const std::unique_ptr<CudaDevice> device = open_cuda_device();
    NvrtcOptions options;
    options.arch = device->info().arch();
    const DeviceLimits limits =
        measure_limits(*device, [&](const std::string& text, const std::string& name) {
            return Nvrtc::find()->compile(text, name, options).cubin;
        });
    WARN("copy " << limits.copy_bandwidth / 1e12 << ", L2 " << limits.l2_bandwidth / 1e12 << " TB/s; launch "
                 << limits.launch_seconds * 1e6 << ", graph " << limits.graph_launch_seconds * 1e6
                 << ", barrier " << limits.barrier_seconds * 1e6 << " us");
    CHECK(limits.copy_bandwidth > 0);
    CHECK(limits.l2_bandwidth > 0);
    CHECK(limits.launch_seconds > 0);
    CHECK(limits.graph_launch_seconds > 0);
    CHECK(limits.barrier_seconds >= 0);
}
