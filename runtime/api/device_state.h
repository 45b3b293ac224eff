// The implementation of a Device handle. Not for users.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/device.h"
#include "runtime/cuda/cuda.h"

namespace halocline::detail {

struct DeviceState {
    std::shared_ptr<void> owner;  // of the caller's stream; the first member, as it has to go last
    std::string kind, arch;
    std::unique_ptr<halo::rt::Device> device;
    halo::rt::CudaDevice* cuda = nullptr;  // the same, where it is a GPU
    // Held by every call that uses the device; recursive, as such calls destroy objects that lock it, too.
    std::recursive_mutex mutex;
};

// Holds the device's mutex, and restores the thread's CUDA context at the end.
class DeviceLock {
public:
    explicit DeviceLock(DeviceState& state) : lock_(state.mutex) {
        if (state.cuda != nullptr) context_.emplace();
    }

private:
    std::lock_guard<std::recursive_mutex> lock_;
    std::optional<halo::rt::CurrentCudaContext> context_;
};

// Locks several devices, always in the same order, so that threads cannot deadlock.
class DeviceLocks {
public:
    explicit DeviceLocks(const std::vector<std::shared_ptr<DeviceState>>& devices) : locks_(devices.size()) {
        std::vector<DeviceState*> in_order;
        for (const auto& device : devices)
            in_order.push_back(device.get());
        std::sort(in_order.begin(), in_order.end(), std::less<>());
        for (std::size_t i = 0; i < in_order.size(); ++i)
            locks_[i].emplace(*in_order[i]);
    }

private:
    std::vector<std::optional<DeviceLock>> locks_;
};

}  // namespace halocline::detail
