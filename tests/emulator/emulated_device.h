// Emulated CUDA as a Device (runtime/core/device.h), so that a Session runs a whole LaunchPlan on emulated
// kernels. load() takes CUDA text. Mistakes of kernels come out of launch() as EmulationError (emulator.h).
//
// Copies and fills by the host count as writing, and so does poison: kernels may load cells of a row's
// padding into vectors, and drop them. A value that nobody set is NaN then, and is seen in the result. Shared
// memory is watched cell by cell.
#pragma once

#include <memory>

#include "emulator.h"
#include "runtime/core/device.h"

namespace halo::emulator {

class EmulatedDevice : public rt::Device {
public:
    explicit EmulatedDevice(const CheckOptions& options = {});
    ~EmulatedDevice() override;

    std::string description() const override;
    rt::MemoryInfo memory() const override;
    void* allocate(std::int64_t bytes) override;
    void release(void* address) noexcept override;
    void set_bytes(void* address, int byte, std::int64_t bytes) override;
    void copy_to_device(void* address, const void* host, std::int64_t bytes) override;
    void copy_to_host(void* host, const void* address, std::int64_t bytes) override;
    void copy_on_device(void* destination, const void* source, std::int64_t bytes) override;
    void upload_cells(void* array, const rt::Geometry& geometry, rt::ElementType type,
                      const void* dense) override;
    void download_cells(void* dense, const void* array, const rt::Geometry& geometry,
                        rt::ElementType type) override;
    std::optional<rt::CellComparison> compare_cells(const void* first, const void* second,
                                                    const rt::Geometry& geometry,
                                                    rt::ElementType type) override;
    void run_halo_passes(const std::vector<rt::HaloPass>& passes, rt::ElementType type, void* array) override;
    std::unique_ptr<rt::Module> load(std::string_view text, const std::string& name) override;
    void launch(rt::Kernel& kernel, const std::array<std::int64_t, 3>& blocks, void** arguments) override;
    void synchronize() override {}
    std::int64_t most_resident_blocks(rt::Kernel& kernel) override;
    void launch_resident(rt::Kernel& kernel, const std::array<std::int64_t, 3>& blocks,
                         void** arguments) override;

    std::int64_t launches() const { return launches_; }
    std::int64_t allocations() const {
        return static_cast<std::int64_t>(memory_.size());
    }  // not released yet

private:
    std::shared_ptr<Emulator> emulator_;  // modules keep it, too
    std::map<void*, std::unique_ptr<char[]>> memory_;
    std::int64_t made_ = 0;
    std::int64_t launches_ = 0;
};

}  // namespace halo::emulator
