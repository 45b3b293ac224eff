#include "runtime/host/host_device.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "runtime/core/element.h"
#include "runtime/core/error.h"
#include "runtime/core/plan_check.h"
#include "runtime/host/host_memory.h"
#include "runtime/host/processors.h"
#include "runtime/host/thread_pool.h"

namespace halo::rt {

namespace {

using Entry = void(void* const* arguments, long begin, long end, long planes, bool streams);

constexpr std::int64_t kLine = 64;              // bytes of a cache line: no two threads write the same
constexpr std::int64_t kSerialBytes = 1 << 17;  // waking the threads costs more than this much copying

// Decides from the time of its blocks whether a kernel's launches are so short that waking the threads costs
// more than it saves. On a busy machine the wait for a thread can take a hundred times as long as the work
// itself. The threads that run a block do not affect what it computes.
class LaunchTiming {
public:
    bool is_serial() const { return is_serial_; }
    bool is_known() const { return samples_ == kSamples; }

    void start(std::int64_t blocks) {
        if (blocks == blocks_) return;
        *this = LaunchTiming();
        blocks_ = blocks;
    }
    void add_block(double seconds) {
        shortest_ = std::min(shortest_, seconds);  // longer ones had cold caches, or were interrupted
        if (++samples_ == kSamples) is_serial_ = shortest_ * static_cast<double>(blocks_) < kShort;
    }
    // Blocks may differ: where whole launches repeatedly take long, the threads are used after all.
    void add_launch(double seconds) {
        overruns_ = seconds > 3 * kShort ? overruns_ + 1 : 0;
        if (overruns_ == kSamples) is_serial_ = false;
    }

private:
    static constexpr int kSamples = 8;
    static constexpr double kShort = 30e-6;  // seconds

    std::int64_t blocks_ = 0;
    int samples_ = 0, overruns_ = 0;
    bool is_serial_ = false;
    double shortest_ = std::numeric_limits<double>::infinity();
};

// Launches by two ways in turns, until it is known which is faster. The second way is the one that the sizes
// of the caches speak for, so it comes first, and is taken at once where the other one is far slower. Where
// there is one way, it is known.
class Trial {
public:
    Trial() = default;
    explicit Trial(bool has_second) : launches_(has_second ? 0 : kLaunches) {}

    bool takes_second() const { return is_over() ? second_ < first_ : launches_ % 2 == 0; }
    bool is_over() const { return launches_ == kLaunches; }
    void add_launch(double seconds) {
        double& best = takes_second() ? second_ : first_;
        best = std::min(best, seconds);
        if (++launches_ == 2 && first_ > kFarSlower * second_) launches_ = kLaunches;
    }

private:
    static constexpr int kLaunches = 4;
    static constexpr double kFarSlower = 1.2;
    int launches_ = kLaunches;
    double first_ = std::numeric_limits<double>::infinity(), second_ = first_;  // seconds
};

class HostKernel : public Kernel {
public:
    HostKernel(Entry* code, bool counts_rows) : entry_(code), counts_rows_(counts_rows) {}
    bool counts_rows() const { return counts_rows_; }  // of planes: counts_rows_of_planes()
    LaunchTiming& timing() { return timing_; }
    // What the next launch tries out, if anything: the first one may meet fresh pages.
    Trial* next_trial() {
        if (std::exchange(is_fresh_, false)) return nullptr;
        return !strips_.is_over() ? &strips_ : !streams_.is_over() ? &streams_ : nullptr;
    }
    void set_order(const SweepOrder& order) override {
        strip_ = order.strip;
        strips_ = Trial(order.strip > 0);
        streams_ = Trial(order.may_stream);
    }

    // Does blocks [begin, end).
    void run_blocks(void** arguments, std::int64_t begin, std::int64_t end, bool streams) const {
        entry_(arguments, begin, end, 1, streams);
    }
    // Does rows [from, to) of each of `planes` planes, of which `rows` are in one.
    void run_planes(void** arguments, std::int64_t rows, std::int64_t first_plane, std::int64_t planes,
                    std::int64_t from, std::int64_t to, bool streams) const {
        if (planes > 0 && from < to)
            entry_(arguments, first_plane * rows + from, first_plane * rows + to, planes, streams);
    }

    // Runs blocks [begin, end) of `rows` a plane.
    void run(void** arguments, std::int64_t begin, std::int64_t end, std::int64_t rows) const {
        if (begin >= end) return;
        const bool streams = streams_.takes_second();
        if (!counts_rows_) {
            run_blocks(arguments, begin, end, streams);
        } else {
            const std::int64_t strip = strips_.takes_second() ? strip_ : rows;
            for (std::int64_t first = 0; first < rows; first += strip)
                run_strip(arguments, begin, end, rows, {first, std::min(first + strip, rows)}, streams);
        }
        // Stores past the caches are ordered by fences alone, and others read what this thread has stored.
        if (streams) std::atomic_thread_fence(std::memory_order_seq_cst);
    }

private:
    struct Strip {
        std::int64_t first, past;  // rows of each plane
    };
    // Does what blocks [begin, end) have of a strip. The first plane and the last one may be there in part.
    void run_strip(void** arguments, std::int64_t begin, std::int64_t end, std::int64_t rows,
                   const Strip& strip, bool streams) const {
        std::int64_t plane = begin / rows;
        const std::int64_t last = end / rows, in_first = std::max(strip.first, begin % rows),
                           in_last = std::min(strip.past, end % rows);
        if (plane == last) return run_planes(arguments, rows, plane, 1, in_first, in_last, streams);
        if (in_first > strip.first) run_planes(arguments, rows, plane++, 1, in_first, strip.past, streams);
        run_planes(arguments, rows, plane, last - plane, strip.first, strip.past, streams);
        run_planes(arguments, rows, last, 1, strip.first, in_last, streams);
    }

    Entry* entry_;
    bool counts_rows_;
    LaunchTiming timing_;
    Trial strips_, streams_;  // by planes or by strips; past the caches from there on
    std::int64_t strip_ = 0;
    bool is_fresh_ = true;
};

template <class Work>
double seconds_of(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class HostModule : public Module {
public:
    explicit HostModule(std::unique_ptr<HostCode> code) : code_(std::move(code)) {}

    Kernel* find_kernel(const KernelPlan& plan) override {
        const auto known = kernels_.find(plan.name);
        if (known != kernels_.end()) return known->second.get();
        auto* const entry = reinterpret_cast<Entry*>(code_->find(plan.name));
        if (entry == nullptr) return nullptr;
        return kernels_.emplace(plan.name, std::make_unique<HostKernel>(entry, counts_rows_of_planes(plan)))
            .first->second.get();
    }

    bool set_constant(const std::string& symbol, const void* data, std::int64_t bytes) override {
        return code_->set_constant(symbol, data, bytes);
    }

private:
    std::unique_ptr<HostCode> code_;
    std::map<std::string, std::unique_ptr<HostKernel>> kernels_;
};

class HostDevice : public Device {
public:
    HostDevice(int threads, HostLoader loader) : pool_(threads), loader_(std::move(loader)) {}

    std::string description() const override {
        return processor_model() + ", " + std::to_string(pool_.threads()) +
               (pool_.threads() == 1 ? " thread" : " threads");
    }
    MemoryInfo memory() const override { return host_memory(); }
    bool is_host_memory() const override { return true; }
    RowLayout row_layout() const override { return RowLayout::tight; }
    void* allocate(std::int64_t bytes) override { return allocate_host(bytes); }
    void release(void* address) noexcept override { release_host(address); }

    void set_bytes(void* address, int byte, std::int64_t bytes) override {
        split_bytes(bytes, [&](std::int64_t begin, std::int64_t end) {
            std::memset(static_cast<char*>(address) + begin, byte, static_cast<std::size_t>(end - begin));
        });
    }
    void copy_to_device(void* address, const void* host, std::int64_t bytes) override {
        copy(address, host, bytes);
    }
    void copy_to_host(void* host, const void* address, std::int64_t bytes) override {
        copy(host, address, bytes);
    }
    void copy_on_device(void* destination, const void* source, std::int64_t bytes) override {
        copy(destination, source, bytes);
    }

    void copy_planes(Device& other, const BoxCopy& box) override {
        if (dynamic_cast<HostDevice*>(&other) == nullptr) return Device::copy_planes(other, box);
        const auto rows = [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t unit = begin; unit < end; ++unit) {
                const std::int64_t row = unit % box.rows, plane = unit / box.rows;
                std::memcpy(
                    static_cast<char*>(box.to) + plane * box.to_slice + row * box.to_pitch,
                    static_cast<const char*>(box.from) + plane * box.from_slice + row * box.from_pitch,
                    static_cast<std::size_t>(box.row_bytes));
            }
        };
        const std::int64_t units = box.rows * box.planes;
        if (units * box.row_bytes < kSerialBytes) return rows(0, units);
        pool_.run(units, rows);
    }

    void upload_cells(void* array, const Geometry& geometry, ElementType type, const void* dense) override {
        for_rows(geometry, type, [&](std::int64_t in_array, std::int64_t in_dense, std::size_t bytes) {
            std::memcpy(static_cast<char*>(array) + in_array, static_cast<const char*>(dense) + in_dense,
                        bytes);
        });
    }
    void download_cells(void* dense, const void* array, const Geometry& geometry, ElementType type) override {
        for_rows(geometry, type, [&](std::int64_t in_array, std::int64_t in_dense, std::size_t bytes) {
            std::memcpy(static_cast<char*>(dense) + in_dense, static_cast<const char*>(array) + in_array,
                        bytes);
        });
    }

    std::optional<bool> cells_are_finite(const void* array, const Geometry& geometry,
                                         ElementType type) override {
        std::atomic<bool> is_finite = true;
        for_rows(geometry, type, [&](std::int64_t in_array, std::int64_t, std::size_t) {
            if (is_finite.load(std::memory_order_relaxed) &&
                count_not_finite(static_cast<const char*>(array) + in_array, geometry.extent[0], type) > 0)
                is_finite.store(false, std::memory_order_relaxed);
        });
        return is_finite.load();
    }

    void run_halo_passes(const std::vector<HaloPass>& passes, ElementType type, void* array) override {
        for (const HaloPass& pass : passes) {
            const std::int64_t bytes = pass.units() * pass.row_length *
                                       static_cast<std::int64_t>(pass.layers.size()) * size_of(type);
            if (bytes < kSerialBytes) {
                run_halo_pass(pass, type, array, 0, pass.units());
            } else {
                pool_.run(pass.units(), [&](std::int64_t begin, std::int64_t end) {
                    run_halo_pass(pass, type, array, begin, end);
                });
            }
        }
    }

    std::unique_ptr<Module> load(std::string_view code, const std::string& name) override {
        if (!loader_)
            throw Error(ErrorCode::no_device,
                        "code for the CPU can be loaded where Halocline's compiler is alone");
        return std::make_unique<HostModule>(loader_(code, name));
    }

    void launch(Kernel& kernel, const std::array<std::int64_t, 3>& blocks, void** arguments) override {
        auto& code = static_cast<HostKernel&>(kernel);
        Trial* const trial = code.next_trial();
        if (trial == nullptr) return launch_blocks(code, blocks, arguments);
        trial->add_launch(seconds_of([&] { launch_blocks(code, blocks, arguments); }));
    }
    void synchronize() override {}

    std::optional<CacheShare> cache_share() const override {
        CacheShare share;
        share.threads = pool_.threads();
        share.own_bytes = caches_.own_bytes;
        share.common_bytes = caches_.common_bytes / std::clamp(caches_.sharing, 1, share.threads);
        return share;
    }
    void run_time_tiles(const TimeTiles& tiles) override {
        const VisitPiece visit = [&](const Sweep& sweep, const HaloPiece& piece) {
            run_piece(tiles.geometry, sweep, piece);
        };
        for (int phase = 0; phase < 2; ++phase) {
            pool_.run(tiles.shape.chunks, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t chunk = begin; chunk < end; ++chunk)
                    order_pieces(tiles, static_cast<int>(chunk), phase, visit);
            });
        }
    }

private:
    void launch_blocks(HostKernel& code, const std::array<std::int64_t, 3>& blocks, void** arguments) {
        LaunchTiming& timing = code.timing();
        const std::int64_t count = blocks[0] * blocks[1] * blocks[2];
        const auto run = [&](std::int64_t begin, std::int64_t end) {
            code.run(arguments, begin, end, blocks[1]);
        };
        if (count <= 1 || pool_.threads() == 1) return run(0, count);
        timing.start(count);
        if (timing.is_serial()) {
            timing.add_launch(seconds_of([&] { run(0, count); }));
            return;
        }
        std::int64_t first = 0;
        if (!timing.is_known()) {
            timing.add_block(seconds_of([&] { run(0, 1); }));
            first = 1;
        }
        pool_.run(count - first,
                  [&](std::int64_t begin, std::int64_t end) { run(first + begin, first + end); });
    }
    static void run_piece(const Geometry& geometry, const Sweep& sweep, const HaloPiece& piece) {
        const auto& kernel = static_cast<const HostKernel&>(*sweep.kernel);
        if (kernel.counts_rows()) {
            kernel.run_planes(sweep.arguments, geometry.extent[1], piece.begin, piece.end - piece.begin,
                              piece.row_begin, piece.row_end, false);
        } else {
            kernel.run_blocks(sweep.arguments, piece.begin, piece.end, false);
        }
        for (const Sweep::Refresh& refresh : sweep.refresh)
            fill_images(*refresh.images, refresh.type, geometry, refresh.array, piece);
    }
    // Parts begin at whole cache lines.
    template <class Work>
    void split_bytes(std::int64_t bytes, const Work& work) {
        if (bytes < kSerialBytes) return work(0, bytes);
        const std::int64_t lines = (bytes + kLine - 1) / kLine;
        pool_.run(lines, [&](std::int64_t begin, std::int64_t end) {
            work(begin * kLine, std::min(end * kLine, bytes));
        });
    }
    void copy(void* to, const void* from, std::int64_t bytes) {
        split_bytes(bytes, [&](std::int64_t begin, std::int64_t end) {
            std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                        static_cast<std::size_t>(end - begin));
        });
    }
    // Calls work(byte in the array, byte in the dense array, bytes) for each row of cells.
    template <class Work>
    void for_rows(const Geometry& geometry, ElementType type, const Work& work) {
        const std::int64_t size = size_of(type), row = geometry.extent[0] * size;
        const auto [ny, nz] = std::pair(geometry.extent[1], geometry.extent[2]);
        pool_.run(ny * nz * geometry.extent[3], [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t unit = begin; unit < end; ++unit) {
                const std::int64_t place =
                    geometry.element_of({0, unit % ny, unit / ny % nz, unit / ny / nz});
                work(place * size, unit * row, static_cast<std::size_t>(row));
            }
        });
    }

    ThreadPool pool_;
    HostLoader loader_;
    CacheSizes caches_ = cache_sizes();
};

}  // namespace

std::unique_ptr<Module> make_host_module(std::unique_ptr<HostCode> code) {
    return std::make_unique<HostModule>(std::move(code));
}

std::unique_ptr<Device> make_host_device(int threads, HostLoader loader) {
    if (threads < 0 || threads > kMaxThreads)
        throw Error(ErrorCode::bad_argument, std::to_string(threads) + " threads were asked for; 1 to " +
                                                 std::to_string(kMaxThreads) +
                                                 " are possible, and 0 for as many as there are cores");
    return std::make_unique<HostDevice>(threads == 0 ? default_threads() : threads, std::move(loader));
}

}  // namespace halo::rt
