#include "runtime/cuda/driver.h"

#include <fmt/format.h>

#include <memory>

#include "runtime/core/shared_library.h"

namespace halo::rt::cuda {

namespace {

constexpr const char* kAdvice = "Install NVIDIA's driver for this GPU, or run on the CPU";

std::unique_ptr<Driver> open_library() {
    SharedLibrary library = SharedLibrary::open(library_names("HALOCLINE_LIBCUDA", {"libcuda.so.1"}));
    if (!library)
        throw Error(ErrorCode::no_device, fmt::format("no NVIDIA driver was found on this machine ({}). {}",
                                                      library.why(), kAdvice));
    auto driver = std::make_unique<Driver>();
#define SYMBOL(name, full_name, ...) library.take(driver->name, #full_name);
#include "runtime/cuda/symbols.def"
#undef SYMBOL
    if (library.missing() != nullptr)
        throw Error(
            ErrorCode::driver_too_old,
            fmt::format(
                "the NVIDIA driver is too old: it has no {}. CUDA 11.4 or newer is needed; update the "
                "driver, or run on the CPU",
                library.missing()));
    return driver;
}

void initialise(Driver& driver) {
    const int result = driver.Init(0);
    driver.DriverGetVersion(&driver.version);
    if (result == kSuccess) return;
    if (result == kNoDevice)
        throw Error(
            ErrorCode::no_device,
            fmt::format(
                "the NVIDIA driver (CUDA {}) sees no GPU; look at nvidia-smi and CUDA_VISIBLE_DEVICES, "
                "or run on the CPU",
                version_text(driver.version)));
    if (result == kStubLibrary)
        throw Error(ErrorCode::no_device,
                    fmt::format("libcuda.so.1 is the toolkit's stand-in, not a driver. {}", kAdvice));
    if (result == kSystemDriverMismatch)
        throw Error(ErrorCode::driver_too_old,
                    "the NVIDIA driver's library and its kernel module are of different versions; after an "
                    "update the "
                    "machine must be restarted");
    throw Error(ErrorCode::no_device,
                fmt::format("the NVIDIA driver does not start: {}", driver.text(result)));
}

std::unique_ptr<Driver> open_driver() {
    auto driver = open_library();
    initialise(*driver);
    return driver;
}

bool is_kernel_failure(int result) {
    return result >= kIllegalAddress && result <= kLaunchFailed;
}

}  // namespace

const Driver& Driver::get() {
    // Where it throws, the next call tries again.
    static const std::unique_ptr<Driver> driver = open_driver();
    return *driver;
}

std::string Driver::text(int result) const {
    const char* name = nullptr;
    const char* words = nullptr;
    GetErrorName(result, &name);
    GetErrorString(result, &words);
    return fmt::format("{} ({})", words != nullptr ? words : "unknown error",
                       name != nullptr ? name : std::to_string(result).c_str());
}

void Driver::fail(int result, const std::string& doing) const {
    const std::string message = fmt::format("the GPU reported '{}' while {}", text(result), doing);
    if (result == kOutOfMemory) throw Error(ErrorCode::out_of_memory, message);
    if (result == kNoDevice) throw Error(ErrorCode::no_device, message);
    if (is_kernel_failure(result))
        throw Error(
            ErrorCode::launch_failed,
            message +
                ". A kernel stopped or could not start; this is a defect of Halocline: please report it "
                "with the program");
    throw Error(ErrorCode::internal, message);
}

std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace halo::rt::cuda
