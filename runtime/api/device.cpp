#include <utility>

#include "halocline/runtime.hpp"
#include "runtime/api/device_state.h"
#include "runtime/api/errors.h"
#include "runtime/host/host_device.h"

namespace halocline {

namespace rt = halo::rt;
using detail::DeviceLock;
using detail::translated;

namespace {

// Opening one makes its context current, too.
std::shared_ptr<detail::DeviceState> open_cuda(const CudaHandles& handles) {
    rt::CudaOptions options;
    options.ordinal =
        handles.ordinal == CudaHandles::kOfStream ? rt::CudaOptions::kOfStream : handles.ordinal;
    options.context = handles.context;
    options.stream = handles.stream;
    const rt::CurrentCudaContext keep;
    auto state = std::make_shared<detail::DeviceState>();
    state->owner = handles.owner;
    std::unique_ptr<rt::CudaDevice> device = rt::open_cuda_device(options);
    state->cuda = device.get();
    state->kind = "cuda:" + std::to_string(device->info().ordinal);
    state->arch = device->info().arch();
    state->device = std::move(device);
    return state;
}

}  // namespace

Devices find_devices() {
    return translated([] {
        const rt::CudaStatus status = rt::cuda_status();
        Devices found;
        for (const rt::CudaDeviceInfo& gpu : status.devices)
            found.all.push_back(
                {"cuda:" + std::to_string(gpu.ordinal), rt::describe(gpu), gpu.arch(), gpu.total_bytes});
        found.all.push_back({"cpu", rt::make_host_device(0)->description(), "cpu", 0});
        found.why_no_gpu = status.why;
        return found;
    });
}

const char* version() noexcept {
    return HALO_VERSION;
}

std::int64_t size_of(Type type) noexcept {
    return rt::size_of(static_cast<rt::ElementType>(type));
}

Device Device::cuda(int ordinal) {
    CudaHandles handles;
    handles.ordinal = ordinal;
    return cuda(handles);
}

Device Device::cuda(const CudaHandles& handles) {
    return translated([&] { return Device(open_cuda(handles)); });
}

Device Device::cpu(int threads) {
    return translated([&] {
        auto state = std::make_shared<detail::DeviceState>();
        state->kind = state->arch = "cpu";
        state->device = rt::make_host_device(threads);
        return Device(std::move(state));
    });
}

Device Device::best() {
    return rt::cuda_status().devices.empty() ? cpu() : cuda();
}

const std::string& Device::kind() const noexcept {
    return state_->kind;
}
std::string Device::arch() const {
    return state_->arch;
}
std::string Device::description() const {
    return state_->device->description();
}
void* Device::stream() const noexcept {
    return state_->cuda == nullptr ? nullptr : state_->cuda->stream();
}
void Device::wait_for_stream(void* stream) const {
    translated([&] {
        const DeviceLock lock(*state_);
        if (state_->cuda != nullptr) state_->cuda->wait_for_stream_of_caller(stream);
    });
}
void Device::make_stream_wait(void* stream) const {
    translated([&] {
        const DeviceLock lock(*state_);
        if (state_->cuda != nullptr) state_->cuda->make_stream_of_caller_wait(stream);
    });
}
void Device::wait() const {
    translated([&] {
        const DeviceLock lock(*state_);
        state_->device->synchronize();
    });
}

}  // namespace halocline
