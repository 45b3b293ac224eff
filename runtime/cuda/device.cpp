#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "runtime/core/element.h"
#include "runtime/core/text.h"
#include "runtime/cuda/cell_copies.h"
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/device_info.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/gathered_cells.h"
#include "runtime/cuda/held_launches.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/own_kernels.h"
#include "runtime/cuda/pinned_memory.h"
#include "runtime/cuda/streams.h"

namespace halo::rt {
namespace cuda {
namespace {

constexpr int kCaptureThreadLocal = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL

class DriverDevice final : public CudaDevice {
public:
    DriverDevice(const Driver& driver, CudaDeviceInfo info, const CudaOptions& options)
        : driver_(driver),
          info_(std::move(info)),
          here_(driver, options),
          own_(driver, here_.context, here_.stream, info_),
          cell_copies_(driver, here_),
          event_(driver, here_.context),
          stream_done_(driver, here_.context),
          pinned_(driver, here_),
          held_(driver, here_) {}

    const CudaDeviceInfo& info() const override { return info_; }
    std::string description() const override { return describe(info_); }
    std::unique_ptr<CudaTimer> make_timer() override {
        enter();
        return std::make_unique<EventTimer>(driver_, here_.context, here_.stream);
    }

    void* context() const override { return here_.context; }
    void* stream() const override { return here_.stream; }

    void wait_for_stream_of_caller(void* stream) override {
        check_recorded(static_cast<Stream>(stream));
        order(static_cast<Stream>(stream), here_.stream);
    }
    void make_stream_of_caller_wait(void* stream) override {
        check_recorded(static_cast<Stream>(stream));
        order(here_.stream, static_cast<Stream>(stream));
    }

    bool is_idle() override {
        enter();
        const int result = driver_.StreamQuery(here_.stream);
        if (result != kNotReady) driver_.check(result, "doing the steps");
        return result == kSuccess;
    }

    MemoryInfo memory() const override;
    void* allocate(std::int64_t bytes) override;
    void release(void* address) noexcept override;
    void set_bytes(void* address, int byte, std::int64_t bytes) override;
    void copy_to_device(void* address, const void* host, std::int64_t bytes) override;
    void copy_to_host(void* host, const void* address, std::int64_t bytes) override;
    void* allocate_on_host(std::int64_t bytes) override { return pinned_.allocate(bytes); }
    void release_on_host(void* memory) noexcept override { pinned_.release(memory); }
    bool can_kernels_reach_host() const override { return true; }  // as addresses of all memory differ
    void begin_copy_to_device(void* address, const void* memory, std::int64_t bytes) override {
        pinned_.begin_copy_to_device(address, memory, bytes);
    }
    void begin_copy_to_host(void* memory, const void* address, std::int64_t bytes) override {
        pinned_.begin_copy_to_host(memory, address, bytes);
    }
    void copy_on_device(void* destination, const void* source, std::int64_t bytes) override;
    std::unique_ptr<EarlyCopy> make_early_copy(std::int64_t bytes) override {
        enter();
        return std::make_unique<PinnedCopy>(driver_, here_, bytes);
    }
    void upload_cells(void* array, const Geometry& geometry, ElementType type, const void* dense) override;
    void download_cells(void* dense, const void* array, const Geometry& geometry, ElementType type) override;
    bool download_every(void* dense, const void* array, const Geometry& cells, std::int64_t every,
                        ElementType type) override;
    std::unique_ptr<CellsAside> make_cells_aside() override;

    void run_halo_passes(const std::vector<HaloPass>& passes, ElementType type, void* array) override {
        enter();
        own_.fill_halo(passes, type, array);
    }
    std::unique_ptr<Module> load(std::string_view code, const std::string& name) override {
        enter();
        return std::make_unique<LoadedModule>(driver_, here_.context, here_.stream, info_, code, name);
    }
    void launch(Kernel& kernel, const std::array<std::int64_t, 3>& blocks, void** arguments) override {
        if (held_.is_holding()) return held_.add(static_cast<CudaKernel&>(kernel), blocks, arguments);
        enter();
        static_cast<CudaKernel&>(kernel).launch(blocks, here_.stream, arguments);
    }
    bool can_hold_launches() const override { return true; }
    void hold_launches(std::vector<std::int64_t> after) override { held_.hold(std::move(after)); }
    void stop_holding() override { held_.stop(); }
    std::int64_t noted_launches() const override { return held_.noted(); }
    std::int64_t held_launches() const override { return held_.count(); }
    void start_held_launches() override { enter(); }
    std::int64_t most_resident_blocks(Kernel& kernel) override {
        enter();
        int device = 0, can = 0;
        driver_.check(driver_.DeviceGet(&device, info_.ordinal), "choosing the GPU");
        driver_.check(driver_.DeviceGetAttribute(&can, kCooperativeLaunch, device), "asking about the GPU");
        if (can == 0) return 0;
        return std::int64_t{info_.multiprocessors} *
               static_cast<CudaKernel&>(kernel).blocks_per_multiprocessor();
    }
    void launch_resident(Kernel& kernel, const std::array<std::int64_t, 3>& blocks,
                         void** arguments) override {
        enter();
        static_cast<CudaKernel&>(kernel).launch_resident(blocks, here_.stream, arguments);
    }
    void synchronize() override {
        enter();
        const BesideRecordings beside(driver_);
        driver_.check(driver_.StreamSynchronize(here_.stream), "finishing the steps");
    }

    bool can_finish_reductions() const override { return true; }
    void finish_reductions(ReductionPlan::Op op, const void* partials, std::int64_t count, std::int64_t rows,
                           void* results) override {
        enter();
        own_.finish_reductions(op, partials, count, rows, results);
    }

    std::optional<CellComparison> compare_cells(const void* first, const void* second,
                                                const Geometry& geometry, ElementType type) override;
    std::optional<bool> cells_are_finite(const void* array, const Geometry& geometry,
                                         ElementType type) override;

    void record_event() override {
        enter();
        event_.record(here_.stream);
    }
    void wait_for_event(Device& other) override;
    void copy_planes(Device& other, const BoxCopy& box) override;
    bool can_write_to(Device& other) override;
    void use_stream(StreamKind kind) override;
    void wait_for_stream(StreamKind other) override;
    std::unique_ptr<WorkMark> make_mark() override {
        enter();
        return std::make_unique<StreamMark>(driver_, here_);
    }

    bool can_record() const override { return true; }
    void begin_recording() override;
    std::unique_ptr<Recording> end_recording() override;
    void replay(Recording& recording) override {
        enter();
        driver_.check(driver_.GraphLaunch(static_cast<GraphRecording&>(recording).ready(), here_.stream),
                      "starting recorded steps");
    }

private:
    // Other users of the process (a Python library, say) may have made another context current.
    void enter() const {
        driver_.check(driver_.CtxSetCurrent(here_.context), "choosing the GPU");
        here_.check_caller_records_nothing();
        held_.start();
    }
    void check_recorded(Stream of_caller) const {
        enter();
        if (is_recorded(driver_, of_caller)) refuse_recorded();
    }
    // An event of its own, as those of the device mark other places. The driver keeps it as long as it is
    // needed.
    void order(Stream first, Stream second) const {
        enter();
        const StreamEvent event(driver_, here_.context);
        event.record(first);
        driver_.check(driver_.StreamWaitEvent(second, event.get(), 0), "waiting for another stream");
    }
    bool enable_peer_access(DriverDevice& other);  // false where there is none
    void* cleared_counts();

    const Driver& driver_;
    CudaDeviceInfo info_;
    ContextAndStream here_;
    OwnKernels own_;
    CellCopies cell_copies_;
    StreamEvent event_;
    std::map<Context, bool> neighbours_;  // whether this context can reach their memory
    StreamEvent stream_done_;
    PinnedMemory pinned_;
    mutable HeldLaunches held_;  // which any call starts
    DeviceMemory counts_, gathered_;
};

MemoryInfo DriverDevice::memory() const {
    enter();
    std::size_t free_bytes = 0, total_bytes = 0;
    driver_.check(driver_.MemGetInfo(&free_bytes, &total_bytes), "asking for free memory");
    return {static_cast<std::int64_t>(free_bytes), static_cast<std::int64_t>(total_bytes)};
}

void* DriverDevice::allocate(std::int64_t bytes) {
    enter();
    const BesideRecordings beside(driver_);
    Address address = 0;
    const int result = driver_.MemAlloc(&address, static_cast<std::size_t>(bytes));
    if (result == kOutOfMemory) {
        const MemoryInfo have = memory();
        throw Error(ErrorCode::out_of_memory,
                    fmt::format("{} of GPU memory are needed, and {} of {} are free on {}", bytes_text(bytes),
                                bytes_text(have.free_bytes), bytes_text(have.total_bytes), info_.name));
    }
    driver_.check(result, fmt::format("reserving {}", bytes_text(bytes)));
    return to_pointer(address);
}

void DriverDevice::release(void* address) noexcept {
    if (address == nullptr) return;
    driver_.CtxSetCurrent(here_.context);
    held_.try_start();
    const BesideRecordings beside(driver_);
    driver_.MemFree(to_address(address));  // waits for kernels that use it
}

void DriverDevice::set_bytes(void* address, int byte, std::int64_t bytes) {
    enter();
    driver_.check(driver_.MemsetD8Async(to_address(address), static_cast<unsigned char>(byte),
                                        static_cast<std::size_t>(bytes), here_.stream),
                  "clearing memory");
}

void DriverDevice::copy_to_device(void* address, const void* host, std::int64_t bytes) {
    enter();
    const BesideRecordings beside(driver_);
    driver_.check(
        driver_.MemcpyHtoDAsync(to_address(address), host, static_cast<std::size_t>(bytes), here_.stream),
        "copying to the GPU");
    driver_.check(driver_.StreamSynchronize(here_.stream), "copying to the GPU");
}

void DriverDevice::copy_to_host(void* host, const void* address, std::int64_t bytes) {
    enter();
    const BesideRecordings beside(driver_);
    driver_.check(
        driver_.MemcpyDtoHAsync(host, to_address(address), static_cast<std::size_t>(bytes), here_.stream),
        "copying from the GPU");
    driver_.check(driver_.StreamSynchronize(here_.stream), "finishing the steps and copying from the GPU");
}

void DriverDevice::copy_on_device(void* destination, const void* source, std::int64_t bytes) {
    enter();
    driver_.check(driver_.MemcpyDtoDAsync(to_address(destination), to_address(source),
                                          static_cast<std::size_t>(bytes), here_.stream),
                  "copying on the GPU");
}

void DriverDevice::upload_cells(void* array, const Geometry& geometry, ElementType type, const void* dense) {
    enter();
    const BesideRecordings beside(driver_);
    for_volumes(geometry, [&](const Geometry& one, std::int64_t before) {
        cell_copies_.upload(array, one, size_of(type),
                            static_cast<const char*>(dense) + before * size_of(type));
    });
}

void DriverDevice::download_cells(void* dense, const void* array, const Geometry& geometry,
                                  ElementType type) {
    enter();
    const BesideRecordings beside(driver_);
    for_volumes(geometry, [&](const Geometry& one, std::int64_t before) {
        cell_copies_.download(static_cast<char*>(dense) + before * size_of(type), array, one, size_of(type));
    });
}

// Gathered on the GPU, so that no more than the cells crosses the bus.
bool DriverDevice::download_every(void* dense, const void* array, const Geometry& cells, std::int64_t every,
                                  ElementType type) {
    constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;
    const std::int64_t nz = cells.extent[2], plane = cells.extent[0] * cells.extent[1] * size_of(type);
    if (plane > kMostBytes) return false;
    const std::int64_t planes = std::min(nz, kMostBytes / plane);
    try {
        if (gathered_.bytes() < planes * plane) gathered_ = DeviceMemory(*this, planes * plane);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory) throw;
        return false;
    }
    enter();
    for_volumes(cells, [&](const Geometry& one, std::int64_t before) {
        auto* const to = static_cast<char*>(dense) + before * size_of(type);
        Geometry part = one;
        for (std::int64_t z = 0; z < nz; z += planes) {
            part.origin = one.origin + z * one.slice;
            part.extent[2] = std::min(planes, nz - z);
            own_.gather_cells(gathered_.address(), array, part, every, type);
            copy_to_host(to + z * plane, gathered_.address(), part.extent[2] * plane);
        }
    });
    return true;
}

std::unique_ptr<CellsAside> DriverDevice::make_cells_aside() {
    enter();
    try {
        return std::make_unique<GatheredCells>(*this, driver_, here_, own_, cell_copies_);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory) throw;
        return nullptr;
    }
}

// Memory for two numbers of 64 bits, which are 0. Kept from one call to the next, as to reserve and to
// release memory takes far longer than to look at an array.
void* DriverDevice::cleared_counts() {
    constexpr std::int64_t kBytes = 2 * sizeof(std::int64_t);
    if (counts_.address() == nullptr) counts_ = DeviceMemory(*this, kBytes);
    set_bytes(counts_.address(), 0, kBytes);
    return counts_.address();
}

std::optional<CellComparison> DriverDevice::compare_cells(const void* first, const void* second,
                                                          const Geometry& geometry, ElementType type) {
    std::array<std::int64_t, 2> counts{};
    void* const there = cleared_counts();
    own_.compare_cells(first, second, geometry, type, there);
    copy_to_host(counts.data(), there, sizeof counts);
    return CellComparison{counts[0], counts[1]};
}

std::optional<bool> DriverDevice::cells_are_finite(const void* array, const Geometry& geometry,
                                                   ElementType type) {
    if (!is_real(type)) return true;
    std::int64_t found = 0;
    void* const there = cleared_counts();
    own_.find_not_finite(array, geometry, type, there);
    copy_to_host(&found, there, sizeof found);
    return found == 0;
}

void DriverDevice::wait_for_event(Device& other) {
    auto* const gpu = dynamic_cast<DriverDevice*>(&other);
    if (gpu == nullptr) return Device::wait_for_event(other);
    enter();
    driver_.check(driver_.StreamWaitEvent(here_.stream, gpu->event_.get(), 0), "waiting for another GPU");
}

// Without peer access the driver copies over the host.
bool DriverDevice::enable_peer_access(DriverDevice& other) {
    const Context context = other.here_.context;
    if (context == here_.context) return true;
    const auto [way, is_new] = neighbours_.try_emplace(context, false);
    if (!is_new) return way->second;
    int here = 0, there = 0, can = 0;
    driver_.check(driver_.DeviceGet(&here, info_.ordinal), "choosing the GPU");
    driver_.check(driver_.DeviceGet(&there, other.info_.ordinal), "choosing the GPU");
    driver_.check(driver_.DeviceCanAccessPeer(&can, here, there), "looking for a way to another GPU");
    if (can == 0) return false;
    const int result = driver_.CtxEnablePeerAccess(context, 0);
    if (result != kPeerAccessAlreadyEnabled) driver_.check(result, "opening the way to another GPU");
    return way->second = true;
}

bool DriverDevice::can_write_to(Device& other) {
    auto* const gpu = dynamic_cast<DriverDevice*>(&other);
    if (gpu == nullptr) return false;
    enter();
    return enable_peer_access(*gpu);
}

void DriverDevice::use_stream(StreamKind kind) {
    enter();
    here_.use_stream(kind);
}

void DriverDevice::wait_for_stream(StreamKind other) {
    const StreamKind own = here_.kind();
    use_stream(other);
    stream_done_.record(here_.stream);
    use_stream(own);
    driver_.check(driver_.StreamWaitEvent(here_.stream, stream_done_.get(), 0), "waiting for another stream");
}

void DriverDevice::copy_planes(Device& other, const BoxCopy& box) {
    auto* const gpu = dynamic_cast<DriverDevice*>(&other);
    if (gpu == nullptr) return Device::copy_planes(other, box);
    enter();
    const char* const doing = "copying from another GPU";
    const bool is_one_context = gpu->here_.context == here_.context;
    enable_peer_access(*gpu);
    const auto copy_row = [&](Address to, Address from) {
        const auto bytes = static_cast<std::size_t>(box.row_bytes);
        driver_.check(is_one_context ? driver_.MemcpyDtoDAsync(to, from, bytes, here_.stream)
                                     : driver_.MemcpyPeerAsync(to, here_.context, from, gpu->here_.context,
                                                               bytes, here_.stream),
                      doing);
    };
    const bool is_box = box.rows > 1 || box.planes > 1;
    const bool has_heights =
        box.planes == 1 || (box.to_slice % box.to_pitch == 0 && box.from_slice % box.from_pitch == 0);
    if (is_box && has_heights && std::max(box.to_pitch, box.from_pitch) <= kMaxPitch) {
        const auto side = [&](const void* address, std::int64_t pitch, std::int64_t slice, Context context) {
            CopySide result;
            result.memory_kind = kDeviceMemory;
            result.device = to_address(address);
            result.pitch = static_cast<std::size_t>(pitch);
            result.height = static_cast<std::size_t>(box.planes == 1 ? box.rows : slice / pitch);
            if (!is_one_context) result.context = context;
            return result;
        };
        Copy3D copy;
        copy.source = side(box.from, box.from_pitch, box.from_slice, gpu->here_.context);
        copy.destination = side(box.to, box.to_pitch, box.to_slice, here_.context);
        copy.width = static_cast<std::size_t>(box.row_bytes);
        copy.height = static_cast<std::size_t>(box.rows);
        copy.depth = static_cast<std::size_t>(box.planes);
        driver_.check(is_one_context ? driver_.Memcpy3DAsync(&copy, here_.stream)
                                     : driver_.Memcpy3DPeerAsync(&copy, here_.stream),
                      doing);
        return;
    }
    for (std::int64_t plane = 0; plane < box.planes; ++plane)
        for (std::int64_t row = 0; row < box.rows; ++row)
            copy_row(to_address(static_cast<char*>(box.to) + plane * box.to_slice + row * box.to_pitch),
                     to_address(static_cast<const char*>(box.from) + plane * box.from_slice +
                                row * box.from_pitch));
}

void DriverDevice::begin_recording() {
    enter();
    here_.switch_streams();
    const int result = driver_.StreamBeginCapture(here_.stream, kCaptureThreadLocal);
    if (result == kSuccess) return;
    here_.switch_streams();
    driver_.fail(result, "recording steps");
}

std::unique_ptr<Recording> DriverDevice::end_recording() {
    enter();
    Graph graph = nullptr;
    const int ended = driver_.StreamEndCapture(here_.stream, &graph);
    here_.switch_streams();
    driver_.check(ended, "recording steps");
    const BesideRecordings beside(driver_);
    return made_ready(driver_, here_.context, graph, "preparing recorded steps");
}

// The ordinal of a context's GPU.
int ordinal_of(const Driver& driver, void* context) {
    const char* const doing = "looking at the given context";
    const CurrentCudaContext keep;
    driver.check(driver.CtxSetCurrent(static_cast<Context>(context)), doing);
    int device = 0;
    driver.check(driver.CtxGetDevice(&device), doing);
    return device;  // a CUdevice is its ordinal
}

Context context_of(const Driver& driver, void* stream) {
    Context context = nullptr;
    driver.check(driver.StreamGetCtx(static_cast<Stream>(stream), &context), "looking at the given stream");
    return context;
}

}  // namespace

}  // namespace cuda

CurrentCudaContext::CurrentCudaContext() {
    try {
        cuda::Context current = nullptr;
        known_ = cuda::Driver::get().CtxGetCurrent(&current) == cuda::kSuccess;
        context_ = current;
    } catch (const Error&) {
        // Without a driver there is no context.
    }
}

CurrentCudaContext::~CurrentCudaContext() {
    if (known_) cuda::Driver::get().CtxSetCurrent(static_cast<cuda::Context>(context_));
}

std::unique_ptr<CudaDevice> open_cuda_device(int ordinal) {
    CudaOptions options;
    options.ordinal = ordinal;
    return open_cuda_device(options);
}

std::unique_ptr<CudaDevice> open_cuda_device(const CudaOptions& asked) {
    const cuda::Driver& driver = cuda::Driver::get();
    CudaOptions options = asked;
    if (options.context == nullptr && options.ordinal == CudaOptions::kOfStream) {
        if (options.stream.value_or(nullptr) == nullptr)
            throw Error(ErrorCode::bad_argument,
                        "the default stream does not say which GPU it belongs to; name one");
        options.context = cuda::context_of(driver, *options.stream);
    }
    if (options.context != nullptr) options.ordinal = cuda::ordinal_of(driver, options.context);
    CudaDeviceInfo info = cuda_device_info(options.ordinal);
    return std::make_unique<cuda::DriverDevice>(driver, std::move(info), options);
}

}  // namespace halo::rt
