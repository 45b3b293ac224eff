// The kernel that fills halos after an upload, one layer a launch. Not for other rooms.
#pragma once

#include <memory>

#include "runtime/core/halo_fill.h"
#include "runtime/cuda/module.h"

namespace halo::rt::cuda {

class HaloFiller {
public:
    HaloFiller(const Driver& driver, Context context, Stream stream, const CudaDeviceInfo& device);
    void run(const std::vector<HaloPass>& passes, ElementType type, void* array);

private:
    Stream stream_;
    std::unique_ptr<LoadedModule> module32_, module64_;
    CudaKernel* kernel32_ = nullptr;
    CudaKernel* kernel64_ = nullptr;
};

}  // namespace halo::rt::cuda

namespace halo::rt {

extern const char* const kHaloLayerPtx32;  // elements of 32 and of 64 bits
extern const char* const kHaloLayerPtx64;

}  // namespace halo::rt
