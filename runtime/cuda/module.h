// Compiled code on a GPU. Not for other rooms.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/core/device.h"
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/driver.h"

namespace halo::rt::cuda {

class CudaKernel final : public Kernel {
public:
    CudaKernel(const Driver& driver, Function function, const KernelPlan& plan, const CudaDeviceInfo& device);
    KernelInfo info() const override { return info_; }
    void prefer_shared_memory() override;
    void launch(const std::array<std::int64_t, 3>& blocks, Stream stream, void** arguments) const;
    // Blocks that wait for each other: all of them start, or the driver refuses the launch.
    void launch_resident(const std::array<std::int64_t, 3>& blocks, Stream stream, void** arguments) const;
    KernelNode node(const std::array<std::int64_t, 3>& blocks, void** arguments) const;  // of a graph
    std::size_t argument_count() const { return argument_count_; }
    int blocks_per_multiprocessor() const;  // at most
    bool same_shape(const KernelPlan& plan) const;

private:
    void check_blocks(const std::array<std::int64_t, 3>& blocks) const;

    const Driver& driver_;
    Function function_;
    std::string name_;
    std::array<int, 3> threads_;
    std::size_t argument_count_;
    std::int64_t dynamic_shared_bytes_;
    KernelInfo info_;
};

// How many modules have been unloaded: kernels of theirs are in no graph any longer.
inline std::atomic<std::uint64_t> modules_unloaded = 0;

// The context that it was loaded in must be current whenever it is used.
class LoadedModule final : public Module {
public:
    // Throws driver_too_old where the code is of a newer CUDA or for another GPU, compile_failed for PTX that
    // is refused.
    LoadedModule(const Driver& driver, Context context, Stream stream, const CudaDeviceInfo& device,
                 std::string_view code, const std::string& name);
    ~LoadedModule() override;
    LoadedModule(const LoadedModule&) = delete;
    LoadedModule& operator=(const LoadedModule&) = delete;

    Kernel* find_kernel(const KernelPlan& plan) override;
    bool set_constant(const std::string& symbol, const void* data, std::int64_t bytes) override;

private:
    const Driver& driver_;
    Context context_;
    Stream stream_;
    const CudaDeviceInfo& device_;
    std::string name_;
    CudaModule module_ = nullptr;
    std::multimap<std::string, std::unique_ptr<CudaKernel>> kernels_;
};

}  // namespace halo::rt::cuda
