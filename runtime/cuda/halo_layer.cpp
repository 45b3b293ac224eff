#include "runtime/cuda/halo_layer.h"

#include <algorithm>
#include <bit>

namespace halo::rt::cuda {

namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMaxBlocks = 4096;  // enough to fill any GPU; the kernel loops over the rest

KernelPlan halo_layer_plan() {
    KernelPlan plan;
    plan.name = "halo_layer";
    plan.threads = {kThreads, 1, 1};
    return plan;
}

CudaKernel* find_halo_layer(LoadedModule& module) {
    auto* kernel = static_cast<CudaKernel*>(module.find_kernel(halo_layer_plan()));
    if (kernel == nullptr) throw Error(ErrorCode::internal, "the kernel that fills halos is missing");
    return kernel;
}

}  // namespace

HaloFiller::HaloFiller(const Driver& driver, Context context, Stream stream, const CudaDeviceInfo& device)
    : stream_(stream),
      module32_(
          std::make_unique<LoadedModule>(driver, context, stream, device, kHaloLayerPtx32, "halo_layer_32")),
      module64_(
          std::make_unique<LoadedModule>(driver, context, stream, device, kHaloLayerPtx64, "halo_layer_64")),
      kernel32_(find_halo_layer(*module32_)),
      kernel64_(find_halo_layer(*module64_)) {}

void HaloFiller::run(const std::vector<HaloPass>& passes, ElementType type, void* array) {
    const CudaKernel& kernel = type == ElementType::f32 ? *kernel32_ : *kernel64_;
    for (const HaloPass& pass : passes) {
        std::int64_t total = pass.row_length * pass.units();
        const std::int64_t blocks = std::min((total + kThreads - 1) / kThreads, kMaxBlocks);
        for (const HaloPass::Layer& layer : pass.layers) {
            std::int64_t destination = layer.destination, source = layer.source;
            std::int64_t row_length = pass.row_length, inner_units = pass.inner_units;
            std::int64_t inner_stride = pass.inner_stride, outer_stride = pass.outer_stride;
            auto value32 = std::bit_cast<std::uint32_t>(static_cast<float>(layer.value));
            auto value64 = std::bit_cast<std::uint64_t>(layer.value);
            void* value = type == ElementType::f32 ? static_cast<void*>(&value32) : &value64;
            std::uint32_t constant = layer.constant ? 1 : 0;
            void* arguments[] = {&array,      &destination, &source,       value,         &constant,
                                 &row_length, &inner_units, &inner_stride, &outer_stride, &total};
            kernel.launch({blocks, 1, 1}, stream_, arguments);
        }
    }
}

}  // namespace halo::rt::cuda
