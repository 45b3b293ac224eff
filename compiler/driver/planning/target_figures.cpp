#include "compiler/driver/planning/target_figures.h"

#include <fmt/format.h>

#include "runtime/core/disk_cache.h"
#include "runtime/nvrtc/nvrtc.h"

namespace halo::driver {

rt::DeviceIdentity identity_of(const rt::CudaDeviceInfo& device) {
    const rt::Nvrtc* const nvrtc = rt::Nvrtc::find();
    return {device.name, device.driver_version,
            nvrtc == nullptr ? "no NVRTC" : fmt::format("NVRTC {}.{}", nvrtc->major(), nvrtc->minor())};
}

TuneDevice tune_device(const rt::CudaDeviceInfo& device) {
    return {device.name, device.arch(), device.multiprocessors, identity_of(device).compiler};
}

std::optional<rt::DeviceLimits> known_limits(const rt::CudaDeviceInfo& device) {
    return rt::find_limits(rt::DiskCache::in_user_folder().folder(), identity_of(device));
}

schedule::Target target_of(const rt::CudaDeviceInfo& device, const std::optional<rt::DeviceLimits>& limits) {
    schedule::Target target;
    target.name = device.arch();
    target.sms = device.multiprocessors;
    target.max_threads_per_block = device.max_threads_per_block;
    target.registers_per_sm = device.registers_per_multiprocessor;
    target.max_shared_bytes = device.max_shared_bytes_per_block;
    if (device.l2_bytes > 0) target.l2_bytes = device.l2_bytes;
    if (!limits) return target;
    const auto use = [](double& figure, double measured) {
        if (measured > 0) figure = measured;
    };
    use(target.dram_bandwidth, limits->copy_bandwidth);
    use(target.l2_bandwidth, limits->l2_bandwidth);
    use(target.launch_seconds, limits->launch_seconds);
    use(target.graph_launch_seconds, limits->graph_launch_seconds);
    use(target.barrier_seconds, limits->barrier_seconds);
    return target;
}

TargetHere target_here() {
    const rt::CudaStatus status = rt::cuda_status();
    if (status.devices.empty()) return {};
    const rt::CudaDeviceInfo& device = status.devices.front();
    const std::optional<rt::DeviceLimits> limits = known_limits(device);
    return {target_of(device, limits), device, limits.has_value()};
}

std::string describe_figures(const schedule::Target& target) {
    return fmt::format(
        "copy {:.2f} TB/s, L2 copy {:.2f} TB/s, kernel to kernel {:.2f} µs, in a graph "
        "{:.2f} µs, "
        "grid barrier {:.2f} µs",
        target.dram_bandwidth / 1e12, target.l2_bandwidth / 1e12, target.launch_seconds * 1e6,
        target.graph_launch_seconds * 1e6, target.barrier_seconds * 1e6);
}

}  // namespace halo::driver
