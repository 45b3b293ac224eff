#include "runtime/cuda/own_kernels.h"

#include <algorithm>
#include <bit>

#include "runtime/cuda/ptx_texts.h"

namespace halo::rt::cuda {

namespace {

constexpr int kThreads = 256;              // finish_reduction.ptx.in counts on it
constexpr std::int64_t kMaxBlocks = 4096;  // enough to fill any GPU; halo_layer loops over the rest

}  // namespace

OwnKernels::OwnKernels(const Driver& driver, Context context, Stream stream, const CudaDeviceInfo& device)
    : driver_(driver), context_(context), stream_(stream), device_(device) {}

const CudaKernel& OwnKernels::use(Loaded& loaded, const char* ptx, const std::string& name) {
    if (loaded.kernel != nullptr) return *loaded.kernel;
    KernelPlan plan;
    plan.name = name;
    plan.threads = {kThreads, 1, 1};
    auto module = std::make_unique<LoadedModule>(driver_, context_, stream_, device_, ptx, name);
    auto* kernel = static_cast<CudaKernel*>(module->find_kernel(plan));
    if (kernel == nullptr)
        throw Error(ErrorCode::internal, "internal error: the kernel '" + name + "' is missing");
    loaded = {std::move(module), kernel};
    return *kernel;
}

void OwnKernels::fill_halo(const std::vector<HaloPass>& passes, ElementType type, void* array) {
    if (passes.empty()) return;
    const CudaKernel& kernel = type == ElementType::f32 ? use(halo32_, kHaloLayerPtx32, "halo_layer")
                                                        : use(halo64_, kHaloLayerPtx64, "halo_layer");
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

void OwnKernels::finish_reduction(ReductionPlan::Op op, const void* partials, std::int64_t count,
                                  void* result) {
    void* arguments[] = {&partials, &count, &result};
    const CudaKernel& kernel = op == ReductionPlan::Op::min ? use(min_, kFinishMinPtx, "finish_reduction")
                                                            : use(max_, kFinishMaxPtx, "finish_reduction");
    kernel.launch({1, 1, 1}, stream_, arguments);
}

}  // namespace halo::rt::cuda
