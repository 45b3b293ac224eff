// The kernels that the back end brings itself: filling halos after an upload, one layer a launch, finishing
// reductions while steps are recorded, comparing arrays, gathering
// cells, and looking for what is not finite. Not for other
// rooms.
#pragma once

#include <memory>
#include <string>

#include "runtime/core/halo_fill.h"
#include "runtime/cuda/module.h"

namespace halo::rt::cuda {

class OwnKernels {
public:
    // The stream is read in each call: it changes while steps are recorded.
    OwnKernels(const Driver& driver, Context context, const Stream& stream, const CudaDeviceInfo& device);
    void fill_halo(const std::vector<HaloPass>& passes, ElementType type, void* array);
    void finish_reductions(ReductionPlan::Op op, const void* partials, std::int64_t count, std::int64_t rows,
                           void* results);
    // Adds to counts[0] the cells whose bits differ, to counts[1] those that are numbers in the first array.
    void compare_cells(const void* first, const void* second, const Geometry& geometry, ElementType type,
                       void* counts);
    // Copies cells to dense memory of the device, of each row every so manieth; `cells` are those alone.
    void gather_cells(void* to, const void* array, const Geometry& cells, std::int64_t every,
                      ElementType type);
    // Sets `found`, 64 bits, to 1 where a cell is not finite. The type is a real one.
    void find_not_finite(const void* array, const Geometry& geometry, ElementType type, void* found);

private:
    // Loaded at first use: the driver takes tens of milliseconds for PTX that it has not met before.
    struct Loaded {
        std::unique_ptr<LoadedModule> module;
        CudaKernel* kernel = nullptr;
    };
    const CudaKernel& use(Loaded& loaded, const char* ptx, const std::string& name);

    const Driver& driver_;
    Context context_;
    const Stream& stream_;
    const CudaDeviceInfo& device_;
    Loaded halo_[4], compare_[4], gather_[4], not_finite_[4], sum_, min_, max_;
};

}  // namespace halo::rt::cuda
