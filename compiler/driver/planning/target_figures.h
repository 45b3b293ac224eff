// The target that schedules are chosen for: a GPU of this machine with the figures that were measured on it
// (`haloc doctor --measure`), or without them, or an H200 where there is no GPU.
#pragma once

#include <optional>
#include <string>

#include "compiler/driver/planning/tuned.h"
#include "compiler/schedule/schedule.h"
#include "runtime/cuda/cuda.h"
#include "runtime/limits/measure.h"
#include "runtime/limits/store.h"

namespace halo::driver {

// Of the device, with the compiler that would be used; "no NVRTC" where there is none.
rt::DeviceIdentity identity_of(const rt::CudaDeviceInfo& device);

// The same, as tuned schedules are kept by.
TuneDevice tune_device(const rt::CudaDeviceInfo& device);

// What is kept of the device, in the folder of the disk cache.
std::optional<rt::DeviceLimits> known_limits(const rt::CudaDeviceInfo& device);

// Figures that were not measured stay as they are built in.
schedule::Target target_of(const rt::CudaDeviceInfo& device, const std::optional<rt::DeviceLimits>& limits);

struct TargetHere {
    schedule::Target target;
    std::optional<rt::CudaDeviceInfo> device;  // nullopt: there is none, and the target is an H200
    bool measured = false;
};
TargetHere target_here();  // the first GPU of this machine; never throws

// "copy 4.29 TB/s, L2 copy 7.2 TB/s, …": the figures that were built in or measured.
std::string describe_figures(const schedule::Target& target);

}  // namespace halo::driver
