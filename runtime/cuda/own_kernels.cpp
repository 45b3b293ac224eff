#include "runtime/cuda/own_kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "runtime/core/element.h"
#include "runtime/cuda/ptx_texts.h"

namespace halo::rt::cuda {

namespace {

constexpr int kThreads = 256;              // finish_reductions, find_not_finite and gather_cells count on it
constexpr std::int64_t kMaxBlocks = 4096;  // enough to fill any GPU; kernels loop over the rest
constexpr std::int64_t kRows = 4;          // that a block of find_not_finite takes at a time

// The index of an element's width among the texts.
std::size_t width_of(ElementType type) {
    return static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(size_of(type))));
}

std::int64_t blocks_for(std::int64_t total) {
    return std::min((total + kThreads - 1) / kThreads, kMaxBlocks);
}

// Of kernels whose blocks are told apart by axis, and take so many rows at a time; each loops over the rest.
std::array<std::int64_t, 3> blocks_over(std::int64_t nx, std::int64_t rows, std::int64_t planes) {
    const std::int64_t along_x = blocks_for(nx), along_y = std::min(rows, kMaxBlocks / along_x);
    return {along_x, along_y, std::min(planes, kMaxBlocks / (along_x * along_y))};
}

// All bits of an element but its sign.
std::uint64_t magnitude_of(ElementType type) {
    return (std::uint64_t{1} << (8 * size_of(type) - 1)) - 1;
}

// The bits of infinity without sign; none for types that hold numbers alone.
std::uint64_t infinity_of(ElementType type) {
    std::uint64_t bits = 0;
    if (is_real(type)) encode(std::numeric_limits<double>::infinity(), type, &bits);
    return bits;
}

}  // namespace

OwnKernels::OwnKernels(const Driver& driver, Context context, const Stream& stream,
                       const CudaDeviceInfo& device)
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
    const std::size_t width = width_of(type);
    const CudaKernel& kernel = use(halo_[width], kHaloLayerPtx[width], "halo_layer");
    for (const HaloPass& pass : passes) {
        std::int64_t total = pass.row_length * pass.inner_units * pass.outer_units;
        const std::int64_t blocks = blocks_for(total);
        const auto fill = [&](const HaloPass::Layer& layer, std::int64_t volume) {
            std::int64_t destination = layer.destination + volume, source = layer.source + volume;
            std::int64_t row_length = pass.row_length, inner_units = pass.inner_units;
            std::int64_t inner_stride = pass.inner_stride, outer_stride = pass.outer_stride;
            std::uint64_t value = 0;
            encode(layer.value, type, &value);
            std::uint32_t constant = layer.constant ? 1 : 0;
            void* arguments[] = {&array,      &destination, &source,       &value,        &constant,
                                 &row_length, &inner_units, &inner_stride, &outer_stride, &total};
            kernel.launch({blocks, 1, 1}, stream_, arguments);
        };
        for (const HaloPass::Layer& layer : pass.layers)
            for (std::int64_t volume = 0; volume < pass.volumes; ++volume)
                fill(layer, volume * pass.volume_stride);
    }
}

void OwnKernels::compare_cells(const void* first, const void* second, const Geometry& cells, ElementType type,
                               void* counts) {
    const std::size_t width = width_of(type);
    const CudaKernel& kernel = use(compare_[width], kCompareCellsPtx[width], "compare_cells");
    // All bits but the sign: a value is NaN where these are above infinity's. Types without NaN have no such
    // bits.
    std::uint64_t infinity = infinity_of(type);
    std::uint64_t magnitude = infinity == 0 ? 0 : magnitude_of(type);
    for_volumes(cells, [&](const Geometry& one, std::int64_t) {
        std::int64_t origin = one.origin, nx = one.extent[0], ny = one.extent[1];
        std::int64_t pitch = one.pitch, slice = one.slice, total = one.extent.cells();
        void* arguments[] = {&first, &second, &origin,    &nx,       &ny,    &pitch,
                             &slice, &total,  &magnitude, &infinity, &counts};
        kernel.launch({blocks_for(total), 1, 1}, stream_, arguments);
    });
}

void OwnKernels::gather_cells(void* to, const void* array, const Geometry& cells, std::int64_t every,
                              ElementType type) {
    const std::size_t width = width_of(type);
    const CudaKernel& kernel = use(gather_[width], kGatherCellsPtx[width], "gather_cells");
    for_volumes(cells, [&](const Geometry& one, std::int64_t before) {
        void* dense = static_cast<char*>(to) + before * size_of(type);
        std::int64_t origin = one.origin, pitch = one.pitch, slice = one.slice;
        std::int64_t nx = one.extent[0], ny = one.extent[1], nz = one.extent[2];
        void* arguments[] = {&dense, &array, &origin, &nx, &ny, &nz, &every, &pitch, &slice};
        kernel.launch(blocks_over(nx, ny, nz), stream_, arguments);
    });
}

void OwnKernels::find_not_finite(const void* array, const Geometry& cells, ElementType type, void* found) {
    const std::size_t width = width_of(type);
    const CudaKernel& kernel = use(not_finite_[width], kFindNotFinitePtx[width], "find_not_finite");
    std::uint64_t magnitude = magnitude_of(type), infinity = infinity_of(type);
    for_volumes(cells, [&](const Geometry& one, std::int64_t) {
        std::int64_t origin = one.origin, pitch = one.pitch, slice = one.slice;
        std::int64_t nx = one.extent[0], ny = one.extent[1], nz = one.extent[2];
        void* arguments[] = {&array, &origin, &nx, &ny, &nz, &pitch, &slice, &magnitude, &infinity, &found};
        kernel.launch(blocks_over(nx, (ny + kRows - 1) / kRows, nz), stream_, arguments);
    });
}

void OwnKernels::finish_reductions(ReductionPlan::Op op, const void* partials, std::int64_t count,
                                   std::int64_t rows, void* results) {
    void* arguments[] = {&partials, &count, &results};
    const char* const name = "finish_reductions";
    const CudaKernel& kernel = op == ReductionPlan::Op::sum   ? use(sum_, kFinishSumPtx, name)
                               : op == ReductionPlan::Op::min ? use(min_, kFinishMinPtx, name)
                                                              : use(max_, kFinishMaxPtx, name);
    kernel.launch({rows, 1, 1}, stream_, arguments);
}

}  // namespace halo::rt::cuda
