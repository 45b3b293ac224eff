// Lifted specs on a GPU, through NVRTC.
#include "catch.h"
#include "compiler/emit/emit.h"
#include "expected.h"
#include "runtime/cuda/cuda.h"
#include "runtime/nvrtc/nvrtc.h"
#include "skip.h"

using namespace halo;

namespace {

const SkipUnless device_present(!rt::cuda_status().devices.empty(), rt::cuda_status().why);
const SkipUnless compiler_present(rt::Nvrtc::find() != nullptr, rt::Nvrtc::why_missing());

}  // namespace

TEST_CASE("lifted specs on the GPU") {
    const std::unique_ptr<rt::CudaDevice> gpu = rt::open_cuda_device();
    const test::Load load = [&](const lower::Lowered& lowered, rt::Device& device) {
        rt::NvrtcOptions options;
        options.arch = gpu->info().arch();
        const std::string text = emit::print_cuda(lowered.kernels);
        std::vector<std::unique_ptr<rt::Module>> modules;
        modules.push_back(device.load(rt::Nvrtc::find()->compile(text, lowered.plan.name, options).cubin,
                                      lowered.plan.name));
        return modules;
    };
    CHECK(test::check_expected_specs(*gpu, load, {{67, 35, 21}, {301, 77, 16}}) >= 60);
}
