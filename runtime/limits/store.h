// Where measured limits are kept: limits.json in the folder of the disk cache, by device, driver and
// compiler.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "runtime/limits/measure.h"

namespace halo::rt {

// What figures hold for: another driver or compiler may make other code of the same kernels.
struct DeviceIdentity {
    std::string device;    // "NVIDIA H200"
    int driver = 0;        // of CUDA that it supports: 13000
    std::string compiler;  // "NVRTC 13.0"
    friend bool operator==(const DeviceIdentity&, const DeviceIdentity&) = default;
};

// nullopt where there are none, or the file cannot be read as what this writes: it is then as if it were not
// there.
std::optional<DeviceLimits> find_limits(const std::filesystem::path& folder, const DeviceIdentity& identity);

// Puts them in place of those of the same identity. The file appears whole or not at all; throws Error (io).
void keep_limits(const std::filesystem::path& folder, const DeviceIdentity& identity,
                 const DeviceLimits& limits);

}  // namespace halo::rt
