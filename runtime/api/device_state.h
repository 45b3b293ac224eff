// The inside of a Device handle. Not for users.
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
    std::string kind, arch;
    std::unique_ptr<halo::rt::Device> device;
    halo::rt::CudaDevice* cuda = nullptr;  // the same, where it is a GPU
    // Of everything that works on the device; held again by what such calls destroy.
    std::recursive_mutex mutex;
};

// While it lives this thread has the device for itself. After it the thread's CUDA context is as it was.
class Turn {
public:
    explicit Turn(DeviceState& state) : lock_(state.mutex) {
        if (state.cuda != nullptr) context_.emplace();
    }

private:
    std::lock_guard<std::recursive_mutex> lock_;
    std::optional<halo::rt::CurrentCudaContext> context_;
};

// Of several devices. Whoever takes several takes them in one order, so that nobody waits in a circle.
class Turns {
public:
    explicit Turns(const std::vector<std::shared_ptr<DeviceState>>& devices) : turns_(devices.size()) {
        std::vector<DeviceState*> in_order;
        for (const auto& device : devices)
            in_order.push_back(device.get());
        std::sort(in_order.begin(), in_order.end(), std::less<>());
        for (std::size_t i = 0; i < in_order.size(); ++i)
            turns_[i].emplace(*in_order[i]);
    }

private:
    std::vector<std::optional<Turn>> turns_;
};

}  // namespace halocline::detail
