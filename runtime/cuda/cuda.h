// The CUDA back end: NVIDIA GPUs through the driver API, opened when first used. Builds without the CUDA
// toolkit and starts on a machine without a driver.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/device.h"
#include "runtime/core/error.h"

namespace halo::rt {

struct CudaDeviceInfo {
    int ordinal = 0;
    std::string name;
    int major = 0, minor = 0;  // compute capability
    int multiprocessors = 0;
    std::int64_t total_bytes = 0;
    std::int64_t max_shared_bytes_per_block = 0;  // opted in
    int max_threads_per_block = 0;
    int registers_per_multiprocessor = 0;
    double core_clock_ghz = 0;  // the highest; what it runs at is another thing
    double memory_clock_ghz = 0;
    int memory_bus_bits = 0;
    std::int64_t l2_bytes = 0;  // 0: the driver does not say
    int driver_version = 0;     // of CUDA that the driver supports: 13000 for 13.0
    std::string arch() const { return "sm_" + std::to_string(major * 10 + minor); }
};

struct CudaStatus {
    bool driver = false;
    int driver_version = 0;  // of CUDA it supports: 13000 for 13.0
    std::vector<CudaDeviceInfo> devices;
    std::string why;  // no driver or no device: the reason and the mend; empty where there is a device
};
CudaStatus cuda_status();  // never throws

// One of them. Needs no context, which takes the driver a tenth of a second to make. Throws Error: no_device,
// driver_too_old.
CudaDeviceInfo cuda_device_info(int ordinal);
// Whether GPU `ordinal` reaches the memory of GPU `other`, without the host between them. Throws as above.
bool cuda_reaches(int ordinal, int other);
// Tells it from every other, whatever number it has in a process: 32 hexadecimal digits. Throws likewise.
std::string cuda_device_uuid(int ordinal);
std::string describe(const CudaDeviceInfo& device);  // as Device::description()

// A span of device time between two points in the order of work.
class CudaTimer {
public:
    virtual ~CudaTimer() = default;
    virtual void start() = 0;
    virtual void stop() = 0;
    virtual double milliseconds() = 0;  // waits for stop()'s point
};

class CudaDevice : public Device {
public:
    virtual const CudaDeviceInfo& info() const = 0;
    virtual std::unique_ptr<CudaTimer> make_timer() = 0;

    virtual bool is_idle() = 0;  // whether all that it was asked for is done; does not wait

    virtual void* context() const = 0;  // CUcontext and CUstream that work goes to
    virtual void* stream() const = 0;

    // Order with a stream of the caller's in this context: work that is asked for from now on begins after
    // what the other stream has to do now. Neither waits.
    virtual void wait_for_stream_of_caller(void* stream) = 0;
    virtual void make_stream_of_caller_wait(void* stream) = 0;
    // Every operation makes context() current to the calling thread and leaves it so; see CurrentCudaContext.
};

struct CudaOptions {
    // Ignored where a context is given. kOfStream: the GPU and the context that the stream belongs to.
    static constexpr int kOfStream = std::numeric_limits<int>::min();
    int ordinal = 0;
    void* context = nullptr;  // a CUcontext of the caller's; null: the GPU's primary one, which the CUDA
                              // runtime uses, too
    // A CUstream (or cudaStream_t) of the caller's in that context, null being the default one; without it
    // the device makes one of its own. Both are the caller's to destroy, after the device.
    std::optional<void*> stream{};
};

// Throws Error: no_device, driver_too_old.
std::unique_ptr<CudaDevice> open_cuda_device(int ordinal = 0);
std::unique_ptr<CudaDevice> open_cuda_device(const CudaOptions& options);

// Puts the calling thread's context back when it goes. Does nothing where there is no driver.
class CurrentCudaContext {
public:
    CurrentCudaContext();
    ~CurrentCudaContext();
    CurrentCudaContext(const CurrentCudaContext&) = delete;
    CurrentCudaContext& operator=(const CurrentCudaContext&) = delete;

private:
    bool known_ = false;
    void* context_ = nullptr;
};

}  // namespace halo::rt
