#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/cuda/cuda.h"
#include "runtime/cuda/device_info.h"

namespace halo::rt {

namespace cuda {

CudaDeviceInfo read_device_info(const Driver& driver, int ordinal) {
    int device = 0;
    driver.check(driver.DeviceGet(&device, ordinal), fmt::format("looking for GPU {}", ordinal));
    const auto attribute = [&](DeviceAttribute number) {
        int value = 0;
        return driver.DeviceGetAttribute(&value, number, device) == kSuccess ? value : 0;
    };
    CudaDeviceInfo info;
    info.ordinal = ordinal;
    std::array<char, 256> name{};
    driver.check(driver.DeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device),
                 "asking a GPU's name");
    info.name = name.data();
    std::size_t bytes = 0;
    driver.check(driver.DeviceTotalMem(&bytes, device), "asking a GPU's memory");
    info.total_bytes = static_cast<std::int64_t>(bytes);
    info.major = attribute(kCapabilityMajor);
    info.minor = attribute(kCapabilityMinor);
    info.multiprocessors = attribute(kMultiprocessors);
    info.max_shared_bytes_per_block = attribute(kSharedBytesPerBlockOptIn);
    info.max_threads_per_block = attribute(kMaxThreadsPerBlock);
    info.registers_per_multiprocessor = attribute(kRegistersPerMultiprocessor);
    info.core_clock_ghz = attribute(kCoreClockKhz) / 1e6;
    info.memory_clock_ghz = attribute(kMemoryClockKhz) / 1e6;
    info.memory_bus_bits = attribute(kMemoryBusBits);
    info.l2_bytes = attribute(kL2Bytes);
    info.driver_version = driver.version;
    return info;
}

}  // namespace cuda

CudaStatus cuda_status() {
    CudaStatus status;
    try {
        const cuda::Driver& driver = cuda::Driver::get();
        status.driver = true;
        status.driver_version = driver.version;
        int count = 0;
        driver.check(driver.DeviceGetCount(&count), "counting the GPUs");
        for (int ordinal = 0; ordinal < count; ++ordinal)
            status.devices.push_back(cuda::read_device_info(driver, ordinal));
        if (count == 0)
            status.why = "the NVIDIA driver sees no GPU; look at nvidia-smi and CUDA_VISIBLE_DEVICES";
    } catch (const std::exception& error) {
        status.why = error.what();
    }
    return status;
}

CudaDeviceInfo cuda_device_info(int ordinal) {
    const cuda::Driver& driver = cuda::Driver::get();
    int count = 0;
    driver.check(driver.DeviceGetCount(&count), "counting the GPUs");
    if (ordinal < 0 || ordinal >= count)
        throw Error(ErrorCode::no_device,
                    fmt::format("there is no GPU {}; this machine has {} (from 0)", ordinal,
                                count == 1 ? "1 GPU" : fmt::format("{} GPUs", count)));
    return cuda::read_device_info(driver, ordinal);
}

bool cuda_reaches(int ordinal, int other) {
    const cuda::Driver& driver = cuda::Driver::get();
    int here = 0, there = 0, can = 0;
    driver.check(driver.DeviceGet(&here, ordinal), fmt::format("looking for GPU {}", ordinal));
    driver.check(driver.DeviceGet(&there, other), fmt::format("looking for GPU {}", other));
    driver.check(driver.DeviceCanAccessPeer(&can, here, there), "looking for a way to another GPU");
    return can != 0;
}

std::string cuda_device_uuid(int ordinal) {
    const cuda::Driver& driver = cuda::Driver::get();
    int device = 0;
    driver.check(driver.DeviceGet(&device, ordinal), fmt::format("looking for GPU {}", ordinal));
    std::array<unsigned char, 16> bytes{};
    driver.check(driver.DeviceGetUuid(bytes.data(), device), "asking a GPU's number");
    std::string digits;
    for (const unsigned char byte : bytes)
        digits += fmt::format("{:02x}", byte);
    return digits;
}

std::string describe(const CudaDeviceInfo& device) {
    return fmt::format("{}, {}, {} SMs, driver for CUDA {}", device.name, device.arch(),
                       device.multiprocessors, cuda::version_text(device.driver_version));
}

}  // namespace halo::rt
