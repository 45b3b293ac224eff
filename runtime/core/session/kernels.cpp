#include "runtime/core/session/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "runtime/core/device.h"
#include "runtime/core/plan_check.h"

namespace halo::rt::session {
namespace {

// Shared memory of a kernel of which a multiprocessor runs one block or two.
constexpr std::int64_t kMuchSharedBytes = 64 << 10;

bool is_over_points(const KernelPlan& kernel) {
    return kernel.domain.kind == Domain::Kind::cells || kernel.domain.kind == Domain::Kind::samples;
}

// Kernels over points run beside the sweeps, or between them. A multiprocessor must be idle before it divides
// its memory anew, so all of them divide it alike.
bool should_divide_alike(const LaunchPlan& plan) {
    return std::ranges::any_of(plan.kernels, is_over_points) &&
           std::ranges::any_of(plan.kernels, [](const KernelPlan& kernel) {
               return kernel.dynamic_shared_bytes >= kMuchSharedBytes;
           });
}

// Of a core's own cache, what the planes of a strip may fill: rows of the next plane arrive besides. Measured
// by a star of radius 4 on 256 and 512 cells cubed: a quarter is as fast as less, a half takes up to twice as
// long.
constexpr double kShareOfStrip = 0.3;
// A strip reads the rows beside it again, so it has as many as these at least.
constexpr std::int64_t kLeastRows = 8;

// Rows that a thread does of each plane before it goes on to the next rows (SweepOrder::strip), where a whole
// plane's neighbours in other planes would have left the cache before they are read again; else 0.
std::int64_t rows_of_strip(const LaunchPlan& plan, const KernelPlan& kernel, const Kernels::Blocks& blocks,
                           const Setup& setup) {
    const std::optional<CacheShare> cache = setup.device->cache_share();
    if (!cache || cache->own_bytes == 0 || !counts_rows_of_planes(kernel) || !is_whole_grid(kernel.domain))
        return 0;
    std::int64_t planes = 0, around = 0;  // bytes of a row's cells in all planes; of the rows beside a strip
    bool reads_planes = false;
    for (const Argument& argument : kernel.arguments) {
        if (argument.kind != Argument::Kind::field) continue;
        if (!argument.use) return 0;
        const FieldPlan& field = plan.fields[static_cast<std::size_t>(argument.field)];
        if (!field.grid.is_whole()) continue;
        const std::int64_t row = setup.geometry.pitch * size_of(field.type) * field.interleave;
        const std::int64_t read = argument.use->read ? 2 * argument.use->reach[2] + 1 : 1;
        planes += read * row;
        around += read * row * 2 * argument.use->reach[1];
        reads_planes = reads_planes || read > 1;
    }
    const auto room = static_cast<std::int64_t>(kShareOfStrip * static_cast<double>(cache->own_bytes));
    if (!reads_planes || planes * blocks[1] + around <= room) return 0;
    const std::int64_t rows = std::max((room - around) / planes, kLeastRows);
    return planes * rows + around <= cache->own_bytes && rows < blocks[1] ? rows : 0;
}

// Whether what a sweep stores leaves the cores' own caches before the next sweep reads it. Where that is
// another kernel's of the same step, it may still be in the last cache, and the time of this kernel alone
// would not show that it is missed there.
bool may_stream(const LaunchPlan& plan, const KernelPlan& kernel, const Setup& setup) {
    const std::optional<CacheShare> cache = setup.device->cache_share();
    if (!cache || !is_whole_grid(kernel.domain)) return false;
    std::int64_t bytes = 0;
    for (const Argument& argument : kernel.arguments) {
        if (argument.kind != Argument::Kind::field) continue;
        const FieldPlan& field = plan.fields[static_cast<std::size_t>(argument.field)];
        if (field.grid.is_whole()) bytes += setup.geometry.elements * size_of(field.type) * field.interleave;
    }
    const std::int64_t kept =
        plan.kernels.size() == 1 ? cache->own_bytes : std::max(cache->own_bytes, cache->common_bytes);
    return bytes > 2 * kept * cache->threads;
}

}  // namespace

Kernels::Kernels(const Setup& setup, std::vector<std::unique_ptr<Module>> modules)
    : plan_(setup.plan), modules_(std::move(modules)) {
    const bool divide_alike = should_divide_alike(plan_);
    for (const KernelPlan& kernel_plan : plan_.kernels) {
        kernels_.push_back(&find(kernel_plan));
        if (divide_alike) kernels_.back()->prefer_shared_memory();
        const Blocks count = blocks_of(kernel_plan, setup.geometry);
        kernels_.back()->set_order(
            {rows_of_strip(plan_, kernel_plan, count, setup), may_stream(plan_, kernel_plan, setup)});
        blocks_.push_back(count);
    }
}

Kernel& Kernels::find(const KernelPlan& kernel_plan, bool newest_first) const {
    const std::size_t count = modules_.size();
    for (std::size_t i = 0; i < count; ++i)
        if (Kernel* found = modules_[newest_first ? count - 1 - i : i]->find_kernel(kernel_plan))
            return *found;
    throw Error(ErrorCode::bad_argument,
                fmt::format("kernel '{}' of the launch plan is not in the compiled code", kernel_plan.name));
}

std::int64_t Kernels::block_count(int kernel) const {
    const Blocks& count = blocks(kernel);
    return count[0] * count[1] * count[2];
}

void Kernels::set_items(int kernel, std::int64_t count) {
    const auto index = static_cast<std::size_t>(kernel);
    const std::int64_t tile = plan_.kernels[index].tile[0];
    blocks_[index] = {(count + tile - 1) / tile, 1, 1};
}

void Kernels::set_constant(const std::string& symbol, const void* data, std::int64_t bytes) {
    for (const auto& module : modules_)
        module->set_constant(symbol, data, bytes);
}

}  // namespace halo::rt::session
