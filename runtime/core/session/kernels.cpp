#include "runtime/core/session/kernels.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

Kernels::Kernels(const Setup& setup, std::vector<std::unique_ptr<Module>> modules)
    : plan_(setup.plan), modules_(std::move(modules)) {
    const bool divide_alike = should_divide_alike(plan_);
    for (const KernelPlan& kernel_plan : plan_.kernels) {
        kernels_.push_back(&find(kernel_plan));
        if (divide_alike) kernels_.back()->prefer_shared_memory();
        Blocks count = domain_extent(kernel_plan.domain, setup.geometry);
        for (int axis = 0; axis < 3; ++axis)
            count[axis] = (count[axis] + kernel_plan.tile[axis] - 1) / kernel_plan.tile[axis];
        if (kernel_plan.blocks > 0) count = {kernel_plan.blocks, 1, 1};
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
