// libcuda, opened: its functions, and how its results become errors. Not for other rooms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/core/error.h"

namespace halo::rt::cuda {

using Context = struct ContextTag*;
using CudaModule = struct CudaModuleTag*;
using Function = struct FunctionTag*;
using Stream = struct StreamTag*;
using Event = struct EventTag*;
using Graph = struct GraphTag*;
using GraphExec = struct GraphExecTag*;
using GraphNode = struct GraphNodeTag*;
using Address = unsigned long long;

inline void* to_pointer(Address address) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}
inline Address to_address(const void* pointer) {
    return static_cast<Address>(reinterpret_cast<std::uintptr_t>(pointer));
}

// As CUDA_MEMCPY3D_v2 and CUDA_MEMCPY3D_PEER. Pitches and x in bytes, heights in rows.
struct CopySide {
    std::size_t x = 0, y = 0, z = 0, level_of_detail = 0;
    unsigned memory_kind = 0;  // kHostMemory, kDeviceMemory
    const void* host = nullptr;
    Address device = 0;
    void* array = nullptr;
    Context context = nullptr;  // of copies between contexts alone
    std::size_t pitch = 0, height = 0;
};
struct Copy3D {
    CopySide source, destination;
    std::size_t width = 0, height = 0, depth = 0;
};
static_assert(sizeof(CopySide) == 88 && sizeof(Copy3D) == 200, "the driver's layout");
inline constexpr unsigned kHostMemory = 1, kDeviceMemory = 2;
inline constexpr std::int64_t kMaxPitch = 2147483647;  // bytes, of such a copy

// As CUDA_KERNEL_NODE_PARAMS_v1.
struct KernelNode {
    Function function = nullptr;
    std::array<unsigned, 3> blocks{}, threads{};
    unsigned shared_bytes = 0;
    void** arguments = nullptr;
    void** extra = nullptr;
};
static_assert(sizeof(KernelNode) == 56, "the driver's layout");

// CUresult, those that are told apart.
enum Result : int {
    kSuccess = 0,
    kOutOfMemory = 2,
    kStubLibrary = 34,
    kNoDevice = 100,
    kInvalidImage = 200,
    kNoBinaryForGpu = 209,
    kInvalidPtx = 218,
    kUnsupportedPtxVersion = 222,
    kNotFound = 500,
    kNotReady = 600,
    kPeerAccessAlreadyEnabled = 704,
    kIllegalAddress = 700,
    kLaunchOutOfResources = 701,
    kLaunchTimeout = 702,
    kHardwareStackError = 714,
    kLaunchFailed = 719,
    kSystemDriverMismatch = 803
};

// CUdevice_attribute and CUfunction_attribute, those that are asked for.
enum DeviceAttribute : int {
    kMaxThreadsPerBlock = 1,
    kCoreClockKhz = 13,
    kMultiprocessors = 16,
    kMemoryClockKhz = 36,
    kMemoryBusBits = 37,
    kL2Bytes = 38,
    kCapabilityMajor = 75,
    kCapabilityMinor = 76,
    kRegistersPerMultiprocessor = 82,
    kCooperativeLaunch = 95,
    kSharedBytesPerBlockOptIn = 97
};
enum FunctionAttribute : int {
    kFunctionMaxThreads = 0,
    kFunctionSharedBytes = 1,
    kFunctionLocalBytes = 3,
    kFunctionRegisters = 4,
    kFunctionMaxDynamicSharedBytes = 8,
    kFunctionPreferredSharedPercent = 9
};

struct Driver {
    // The driver, opened and initialised once a process; throws Error (no_device, driver_too_old) where it
    // cannot be.
    static const Driver& get();

#define SYMBOL(name, full_name, ...) int (*name)(__VA_ARGS__) = nullptr;
#include "runtime/cuda/symbols.def"
#undef SYMBOL

    int version = 0;  // of CUDA that it supports: 13000

    std::string text(int result) const;  // "out of memory (CUDA_ERROR_OUT_OF_MEMORY)"

    // Throws where a call failed; `doing` completes "while …".
    void check(int result, const std::string& doing) const {
        if (result != kSuccess) fail(result, doing);
    }
    [[noreturn]] void fail(int result, const std::string& doing) const;
};

std::string version_text(int version);  // "13.0"

}  // namespace halo::rt::cuda
