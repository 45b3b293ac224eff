#include "runtime/cuda/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/core/text.h"
#include "runtime/cuda/streams.h"

namespace halo::rt::cuda {

namespace {

constexpr std::int64_t kSharedBytesWithoutOptIn = 48 << 10;
constexpr std::array<std::int64_t, 3> kMaxBlocksOfGrid = {2147483647, 65535, 65535};

[[noreturn]] void refuse_code(const Driver& driver, int result, const CudaDeviceInfo& device,
                              const std::string& name, const char* log) {
    if (result == kNoBinaryForGpu || result == kUnsupportedPtxVersion || result == kInvalidImage)
        throw Error(
            ErrorCode::driver_too_old,
            fmt::format(
                "the code of '{}' does not load on {} ({}): {}. It was compiled for another GPU or by a "
                "CUDA newer than this driver's {}; update the driver, or compile with that CUDA",
                name, device.name, device.arch(), driver.text(result), version_text(driver.version)));
    if (result == kInvalidPtx)
        throw Error(ErrorCode::compile_failed,
                    fmt::format("internal error: the driver refused the PTX of '{}', please "
                                "report this with the program:\n{}",
                                name, log));
    driver.fail(result, fmt::format("loading the code of '{}'", name));
}

}  // namespace

CudaKernel::CudaKernel(const Driver& driver, Function function, const KernelPlan& plan,
                       const CudaDeviceInfo& device)
    : driver_(driver),
      function_(function),
      name_(plan.name),
      threads_(plan.threads.first_three()),
      argument_count_(plan.arguments.size()),
      dynamic_shared_bytes_(plan.dynamic_shared_bytes) {
    const auto attribute = [&](FunctionAttribute number) {
        int value = 0;
        driver.check(driver.FuncGetAttribute(&value, number, function),
                     fmt::format("preparing kernel '{}'", name_));
        return value;
    };
    info_.registers = attribute(kFunctionRegisters);
    info_.spill_bytes = attribute(kFunctionLocalBytes);
    info_.static_shared_bytes = attribute(kFunctionSharedBytes);

    const std::int64_t threads = std::int64_t{threads_[0]} * threads_[1] * threads_[2];
    const int max_threads = attribute(kFunctionMaxThreads);
    if (threads > max_threads)
        throw Error(
            ErrorCode::bad_argument,
            fmt::format("kernel '{}' has {} threads a block; with its {} registers a thread {} can run {}",
                        name_, threads, info_.registers, device.name, max_threads));
    const std::int64_t shared = dynamic_shared_bytes_ + info_.static_shared_bytes;
    if (shared > std::max(device.max_shared_bytes_per_block, kSharedBytesWithoutOptIn))
        throw Error(
            ErrorCode::bad_argument,
            fmt::format("kernel '{}' needs {} of shared memory a block, and {} has {}", name_,
                        bytes_text(shared), device.name, bytes_text(device.max_shared_bytes_per_block)));
    // The device's maximum rather than this plan's need: another shape of the same kernel may need more.
    if (shared > kSharedBytesWithoutOptIn)
        driver.check(driver.FuncSetAttribute(
                         function, kFunctionMaxDynamicSharedBytes,
                         static_cast<int>(device.max_shared_bytes_per_block - info_.static_shared_bytes)),
                     fmt::format("giving kernel '{}' {} of shared memory", name_, bytes_text(shared)));
}

void CudaKernel::prefer_shared_memory() {
    driver_.check(driver_.FuncSetAttribute(function_, kFunctionPreferredSharedPercent, 100),
                  fmt::format("preparing kernel '{}'", name_));
}

bool CudaKernel::same_shape(const KernelPlan& plan) const {
    return plan.threads.first_three() == threads_ && plan.dynamic_shared_bytes == dynamic_shared_bytes_;
}

void CudaKernel::check_blocks(const std::array<std::int64_t, 3>& blocks) const {
    for (int axis = 0; axis < 3; ++axis)
        if (blocks[axis] < 1 || blocks[axis] > kMaxBlocksOfGrid[axis])
            throw Error(
                ErrorCode::bad_argument,
                fmt::format(
                    "kernel '{}' would need {} blocks along axis {}, and a GPU runs {} at most; a larger "
                    "tile along that axis helps",
                    name_, blocks[axis], axis + 1, kMaxBlocksOfGrid[axis]));
}

KernelNode CudaKernel::node(const std::array<std::int64_t, 3>& blocks, void** arguments) const {
    check_blocks(blocks);
    KernelNode made;
    made.function = function_;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        made.blocks[axis] = static_cast<unsigned>(blocks[axis]);
        made.threads[axis] = static_cast<unsigned>(threads_[axis]);
    }
    made.shared_bytes = static_cast<unsigned>(dynamic_shared_bytes_);
    made.arguments = arguments;
    return made;
}

void CudaKernel::launch(const std::array<std::int64_t, 3>& blocks, Stream stream, void** arguments) const {
    check_blocks(blocks);
    const int result =
        driver_.LaunchKernel(function_, static_cast<unsigned>(blocks[0]), static_cast<unsigned>(blocks[1]),
                             static_cast<unsigned>(blocks[2]), static_cast<unsigned>(threads_[0]),
                             static_cast<unsigned>(threads_[1]), static_cast<unsigned>(threads_[2]),
                             static_cast<unsigned>(dynamic_shared_bytes_), stream, arguments, nullptr);
    if (result != kSuccess) driver_.fail(result, fmt::format("starting kernel '{}'", name_));
}

void CudaKernel::launch_resident(const std::array<std::int64_t, 3>& blocks, Stream stream,
                                 void** arguments) const {
    const int result = driver_.LaunchCooperativeKernel(
        function_, static_cast<unsigned>(blocks[0]), static_cast<unsigned>(blocks[1]),
        static_cast<unsigned>(blocks[2]), static_cast<unsigned>(threads_[0]),
        static_cast<unsigned>(threads_[1]), static_cast<unsigned>(threads_[2]),
        static_cast<unsigned>(dynamic_shared_bytes_), stream, arguments);
    if (result != kSuccess)
        driver_.fail(result, fmt::format("starting all blocks of kernel '{}' at once", name_));
}

int CudaKernel::blocks_per_multiprocessor() const {
    int blocks = 0;
    driver_.check(
        driver_.OccupancyMaxActiveBlocks(&blocks, function_, threads_[0] * threads_[1] * threads_[2],
                                         static_cast<std::size_t>(dynamic_shared_bytes_)),
        fmt::format("asking how many blocks of kernel '{}' run at once", name_));
    return blocks;
}

LoadedModule::LoadedModule(const Driver& driver, Context context, Stream stream, const CudaDeviceInfo& device,
                           std::string_view code, const std::string& name)
    : driver_(driver), context_(context), stream_(stream), device_(device), name_(name) {
    constexpr int kErrorLog = 5, kErrorLogBytes = 6;  // CUjit_option
    std::array<char, 8192> log{};
    std::array<int, 2> options = {kErrorLog, kErrorLogBytes};
    std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
    const std::string image(code);  // PTX must end with a zero
    const BesideRecordings beside(driver_);
    const int result = driver_.ModuleLoadDataEx(&module_, image.c_str(), 2, options.data(), values.data());
    if (result != kSuccess) refuse_code(driver_, result, device_, name_, log.data());
}

LoadedModule::~LoadedModule() {
    const BesideRecordings beside(driver_);
    driver_.CtxSetCurrent(context_);
    driver_.ModuleUnload(module_);
    ++modules_unloaded;
}

Kernel* LoadedModule::find_kernel(const KernelPlan& plan) {
    const auto known = kernels_.equal_range(plan.name);
    for (auto kernel = known.first; kernel != known.second; ++kernel)
        if (kernel->second->same_shape(plan)) return kernel->second.get();
    driver_.check(driver_.CtxSetCurrent(context_), "choosing the GPU");
    Function function = nullptr;
    const int result = driver_.ModuleGetFunction(&function, module_, plan.name.c_str());
    if (result == kNotFound) return nullptr;
    driver_.check(result, fmt::format("looking for kernel '{}'", plan.name));
    return kernels_.emplace(plan.name, std::make_unique<CudaKernel>(driver_, function, plan, device_))
        ->second.get();
}

bool LoadedModule::set_constant(const std::string& symbol, const void* data, std::int64_t bytes) {
    driver_.check(driver_.CtxSetCurrent(context_), "choosing the GPU");
    Address address = 0;
    std::size_t room = 0;
    const int result = driver_.ModuleGetGlobal(&address, &room, module_, symbol.c_str());
    if (result == kNotFound) return false;
    driver_.check(result, fmt::format("looking for constant '{}'", symbol));
    if (static_cast<std::size_t>(bytes) > room)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("constant '{}' has {} bytes in the code of '{}', not {}", symbol, room, name_,
                                bytes));
    // In the stream's order, and done before `data` may go.
    driver_.check(driver_.MemcpyHtoDAsync(address, data, static_cast<std::size_t>(bytes), stream_),
                  fmt::format("setting constant '{}'", symbol));
    driver_.check(driver_.StreamSynchronize(stream_), fmt::format("setting constant '{}'", symbol));
    return true;
}

}  // namespace halo::rt::cuda
