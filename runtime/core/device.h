// Device: the small set of operations that a back end implements, and all that Session (session.h) asks of
// one.
//
// Addresses are of the device's own memory, carried as void*; only a back end may dereference them. Copies,
// fills, launches and replays of one device happen in the order of the calls; they may return before the work
// is done, but copies from the device do not, and synchronize() waits for everything. A device is used by one
// thread at a time. Every operation throws Error (error.h) with a text for the user.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/core/geometry.h"
#include "runtime/core/halo_fill.h"
#include "runtime/core/launch_plan.h"
#include "runtime/core/time_tiles.h"

namespace halo::rt {

struct MemoryInfo {
    std::int64_t free_bytes = 0;  // 0 for both where it is not known
    std::int64_t total_bytes = 0;
};

// Rows of bytes, from one array to another. Pitches, slices and volumes are bytes, too.
struct BoxCopy {
    void* to = nullptr;
    const void* from = nullptr;
    std::int64_t row_bytes = 0, rows = 1, planes = 1, volumes = 1;
    std::int64_t to_pitch = 0, to_slice = 0, from_pitch = 0, from_slice = 0;
    std::int64_t to_volume = 0, from_volume = 0;
};

// Cells in memory: where the first of them lies, and how many elements on the next row, plane and volume
// begin.
struct CellsInMemory {
    const void* first = nullptr;
    std::int64_t pitch = 0, slice = 0, volume = 0;
};
// Those of an array from a cell on, whose address is that of its first element; an element has so many bytes.
CellsInMemory cells_of(const void* array, const Geometry& geometry, std::int64_t element,
                       const std::array<std::int64_t, kMaxRank>& cell = {});
// So many of them along each axis, to memory that may be written.
BoxCopy copy_of_cells(const CellsInMemory& to, const CellsInMemory& from, const Extent& count,
                      std::int64_t element);

// Of the cells of two arrays.
struct CellComparison {
    std::int64_t different = 0;  // in some bit
    std::int64_t numbers = 0;    // those of the first array that are no NaN
};

// What the compiler of a back end made of a kernel; -1 where not known.
struct KernelInfo {
    int registers = -1;             // a thread
    std::int64_t spill_bytes = -1;  // a thread
    std::int64_t static_shared_bytes = -1;
};

// How a processor may go through a grid and its caches.
struct SweepOrder {
    // Of blocks that are the rows of a grid, numbered plane by plane: a thread may do so many rows of all of
    // its planes before the next ones, so that the planes that a cell reads stay in its own cache. 0: whole
    // planes.
    std::int64_t strip = 0;
    // What is stored leaves the caches before it is read, so it may go to memory past them.
    bool may_stream = false;
};

// A kernel that is ready to launch, with the block's threads and dynamic shared bytes of its plan. Owned by
// its module.
class Kernel {
public:
    virtual ~Kernel() = default;
    virtual KernelInfo info() const { return {}; }
    // Asks for all that a multiprocessor can give as shared memory, in place of a cache.
    virtual void prefer_shared_memory() {}
    // What of it is faster depends on the machine, and is found by the first launches.
    virtual void set_order(const SweepOrder&) {}
};

class Module {
public:
    virtual ~Module() = default;
    // The kernel named plan.name, or nullptr where this module has none of that name. Prepared on the first
    // call.
    virtual Kernel* find_kernel(const KernelPlan& plan) = 0;
    // Sets a constant array, by its symbol; false where this module has none. Waits for running kernels.
    virtual bool set_constant(const std::string& symbol, const void* data, std::int64_t bytes) = 0;
};

// Recorded launches, copies and fills, to be replayed at once (a CUDA graph).
class Recording {
public:
    virtual ~Recording() = default;
};

// Copies a few bytes of the device's memory as they are after all work submitted before begin(). wait() waits
// for that, and not for work submitted since. One copy at a time.
class EarlyCopy {
public:
    virtual ~EarlyCopy() = default;
    virtual void begin(const void* address) = 0;
    virtual const void* wait() = 0;  // the bytes, until the next begin()
};

// A place in the order of a device's work.
class WorkMark {
public:
    virtual ~WorkMark() = default;
    virtual void set() = 0;  // behind what was submitted to the stream in use
    virtual void
    wait() = 0;  // what is submitted to the stream in use from now on begins when all before it is done
};

// Cells of an array that are so many elements apart in each row: `cells` are those alone, and its pitch and
// slice may pass over rows and planes.
struct CellsOfArray {
    const void* array = nullptr;  // of its first element
    Geometry cells;
    std::int64_t every = 1;
    ElementType type = ElementType::f32;
    std::int64_t count() const { return cells.extent.cells(); }
};

// Cells that a device copies within its own memory, as they are after all work submitted before, to be
// fetched while it does work submitted later.
class CellsAside {
public:
    virtual ~CellsAside() = default;
    // In place of those that were set aside before, which are gone in any case. False where the device has
    // too little memory.
    virtual bool set_aside(const std::vector<CellsOfArray>& parts) = 0;
    // Both wait until the cells are set aside, and not for work submitted since.
    virtual bool are_finite() = 0;  // all of them
    virtual void fetch(std::size_t part, void* dense) = 0;
};

class Device {
public:
    virtual ~Device() = default;
    virtual std::string description()
        const = 0;  // "NVIDIA H200, sm_90, 132 SMs, driver 13.0": one line for people
    virtual MemoryInfo memory() const = 0;
    virtual bool is_host_memory() const { return false; }               // its memory is the process's own
    virtual RowLayout row_layout() const { return RowLayout::padded; }  // of the arrays it is fast on

    // Aligned to 256 bytes or more; contents undefined. bytes >= 1.
    virtual void* allocate(std::int64_t bytes) = 0;
    virtual void release(void* address) noexcept = 0;

    virtual void set_bytes(void* address, int byte, std::int64_t bytes) = 0;  // as memset
    virtual void copy_to_device(void* address, const void* host,
                                std::int64_t bytes) = 0;  // host is free to reuse
    virtual void copy_to_host(void* host, const void* address, std::int64_t bytes) = 0;
    // Optional: memory of the host, from and to which copies go while the host goes on; null where there is
    // none, or too little. The copies are those above, in the order of the stream in use, and wait for
    // nothing.
    virtual void* allocate_on_host(std::int64_t /*bytes*/) { return nullptr; }
    virtual void release_on_host(void* /*memory*/) noexcept {}
    virtual bool can_kernels_reach_host() const { return false; }  // to such memory: results need no copy
    virtual void begin_copy_to_device(void* address, const void* memory, std::int64_t bytes) {
        copy_to_device(address, memory, bytes);
    }
    virtual void begin_copy_to_host(void* memory, const void* address, std::int64_t bytes) {
        copy_to_host(memory, address, bytes);
    }
    virtual void copy_on_device(void* destination, const void* source, std::int64_t bytes) = 0;
    virtual std::unique_ptr<EarlyCopy> make_early_copy(std::int64_t bytes);  // of so many bytes

    // The cells of an array (its address is that of its first element) from and to a dense host array of the
    // same element type, x fastest, without halo.
    virtual void upload_cells(void* array, const Geometry& geometry, ElementType type, const void* dense) = 0;
    virtual void download_cells(void* dense, const void* array, const Geometry& geometry,
                                ElementType type) = 0;

    // Optional. As CellsOfArray has them. False, and nothing is done, where the device cannot.
    virtual bool download_every(void* /*dense*/, const void* /*array*/, const Geometry& /*cells*/,
                                std::int64_t /*every*/, ElementType) {
        return false;
    }
    // Optional: null where the device does nothing while cells are fetched. It must outlive what it gives.
    virtual std::unique_ptr<CellsAside> make_cells_aside() { return nullptr; }

    virtual void run_halo_passes(const std::vector<HaloPass>& passes, ElementType type, void* array) = 0;

    // Loads what the back end's compiler made (a CUBIN or PTX; an object file). `name` is for messages.
    virtual std::unique_ptr<Module> load(std::string_view code, const std::string& name) = 0;

    // arguments[i] points at the value of the kernel's parameter i: void* for arrays, float or double, int32,
    // int64. The values are copied before the call returns.
    virtual void launch(Kernel& kernel, const std::array<std::int64_t, 3>& blocks, void** arguments) = 0;

    // Optional. From hold_launches() to stop_holding() launches are noted, and begin when anything else is
    // asked of the device, or start_held_launches(): the first of them after those of these numbers, and each
    // that follows after the one before it. They are numbered from 0 on, in the order in which they are
    // noted; those that have begun come before all others. What they use stays until then, and of the value
    // of each argument 8 bytes can be read.
    virtual bool can_hold_launches() const { return false; }
    virtual void hold_launches(std::vector<std::int64_t> /*after*/) {}
    virtual void stop_holding() {}
    virtual std::int64_t noted_launches() const { return 0; }  // so far
    virtual std::int64_t held_launches() const { return 0; }   // of them, that have not begun
    virtual void start_held_launches() {}
    virtual void
    synchronize() = 0;  // Between devices. Work that is submitted here after wait_for_event(other) begins
                        // when the work is done that was submitted to `other` before its last record_event().
                        // Devices that wait for each other all record their events before the first of them
                        // waits: else an event would come after its device's own wait.
    virtual void record_event() {}
    virtual void wait_for_event(Device& other) { other.synchronize(); }
    // Whether kernels of this device may write to memory of `other`; they may from then on.
    virtual bool can_write_to(Device& other) {
        return this == &other;
    }  // Streams of a device, whose work may run concurrently; the urgent one has priority, and that of
       // fetches is for copies to the host. wait_for_stream(): later work in the stream in use begins when
       // the other stream's work so far is done. A device that does everything in order may ignore streams.
    enum class StreamKind : std::uint8_t { main, side, urgent, fetch };
    virtual void use_stream(StreamKind) {}
    virtual void wait_for_stream(StreamKind /*other*/) {}
    virtual std::unique_ptr<WorkMark> make_mark();
    // Copies from memory of `other` to memory of this device, in the order of this device's work. Without a
    // way between the two it goes over the host, and waits.
    void copy_from(Device& other, const BoxCopy& box);
    virtual void copy_planes(Device& other, const BoxCopy& box);  // of one volume

    // Optional. Launches whose blocks wait for each other: how many blocks of the kernel are on the device at
    // once, and a launch of so many at most that starts all of them.
    virtual std::int64_t most_resident_blocks(Kernel&) { return 0; }
    virtual void launch_resident(Kernel&, const std::array<std::int64_t, 3>& /*blocks*/,
                                 void** /*arguments*/) {}

    // Optional: several steps at once (time_tiles.h); nothing where the device cannot.
    virtual std::optional<CacheShare> cache_share() const { return std::nullopt; }
    virtual void run_time_tiles(const TimeTiles&) {}

    // Optional. Combines `rows` rows of `count` partial results each, which lie one after the other, to
    // results[row], all on the device. Sums are added in an order that depends on count alone, and is another
    // than the host's; what is NaN stays NaN.
    virtual bool can_finish_reductions() const { return false; }
    virtual void finish_reductions(ReductionPlan::Op, const void* /*partials*/, std::int64_t /*count*/,
                                   std::int64_t /*rows*/, void* /*results*/) {}

    // Optional: arrays of the same geometry compared where they are. Waits for the device.
    virtual std::optional<CellComparison> compare_cells(const void* /*first*/, const void* /*second*/,
                                                        const Geometry&, ElementType) {
        return std::nullopt;
    }

    // Optional: whether all cells of an array are finite, found where they are. Waits for the device.
    virtual std::optional<bool> cells_are_finite(const void* /*array*/, const Geometry&, ElementType) {
        return std::nullopt;
    }

    // Optional. What a recording holds has run before, outside of one: a device may load its parts at first
    // use. Between begin_recording() and end_recording() launches, copies on the device, set_bytes and halo
    // passes are noted and not run; any other call is a mistake.
    virtual bool can_record() const { return false; }
    virtual void begin_recording() {}
    virtual std::unique_ptr<Recording> end_recording() { return nullptr; }
    virtual void replay(Recording&) {}
};

// Owns one allocation of a device, which must outlive it.
class DeviceMemory {
public:
    DeviceMemory() = default;
    DeviceMemory(Device& device, std::int64_t bytes)
        : device_(&device), address_(device.allocate(bytes)), bytes_(bytes) {}
    DeviceMemory(DeviceMemory&& other) noexcept { swap(other); }
    DeviceMemory& operator=(DeviceMemory&& other) noexcept {
        swap(other);
        return *this;
    }
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;
    ~DeviceMemory() {
        if (device_ != nullptr) device_->release(address_);
    }
    void* address() const { return address_; }
    std::int64_t bytes() const { return bytes_; }

private:
    void swap(DeviceMemory& other) noexcept {
        std::swap(device_, other.device_);
        std::swap(address_, other.address_);
        std::swap(bytes_, other.bytes_);
    }
    Device* device_ = nullptr;
    void* address_ = nullptr;
    std::int64_t bytes_ = 0;
};

// Memory of Device::allocate_on_host(): none where the device has none, or too little.
class HostMemory {
public:
    HostMemory() = default;
    HostMemory(Device& device, std::int64_t bytes)
        : device_(&device), address_(device.allocate_on_host(bytes)) {}
    HostMemory(HostMemory&& other) noexcept { swap(other); }
    HostMemory& operator=(HostMemory&& other) noexcept {
        swap(other);
        return *this;
    }
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;
    ~HostMemory() {
        if (address_ != nullptr) device_->release_on_host(address_);
    }
    void* address() const { return address_; }

private:
    void swap(HostMemory& other) noexcept {
        std::swap(device_, other.device_);
        std::swap(address_, other.address_);
    }
    Device* device_ = nullptr;
    void* address_ = nullptr;
};

}  // namespace halo::rt
