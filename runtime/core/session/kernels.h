// The compiled kernels of a session, and how many blocks each is launched with. Not for other rooms.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/core/session/parts.h"

namespace halo::rt::session {

class Kernels {
public:
    using Blocks = std::array<std::int64_t, 3>;

    // `modules` hold the plan's kernels between them; throws bad_argument where one is missing.
    Kernels(const Setup& setup, std::vector<std::unique_ptr<Module>> modules);

    Kernel& operator[](int kernel) const { return *kernels_[static_cast<std::size_t>(kernel)]; }
    const Blocks& blocks(int kernel) const { return blocks_[static_cast<std::size_t>(kernel)]; }
    std::int64_t block_count(int kernel) const;
    void set_items(int kernel, std::int64_t count);  // of a kernel over a list: points, or cells near them
    // Throws bad_argument where no module has it. Modules are asked in order, or the newest first: one is not
    // to be asked for what it has not, which tools that watch the driver would report.
    Kernel& find(const KernelPlan& kernel_plan, bool newest_first = false) const;

    void add(std::unique_ptr<Module> module) { modules_.push_back(std::move(module)); }
    void set_constant(const std::string& symbol, const void* data, std::int64_t bytes);

private:
    const LaunchPlan& plan_;
    std::vector<std::unique_ptr<Module>> modules_;
    std::vector<Kernel*> kernels_;  // by KernelPlan
    std::vector<Blocks> blocks_;    // by KernelPlan
};

}  // namespace halo::rt::session
