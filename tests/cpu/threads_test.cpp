#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "catch.h"
#include "runtime/core/error.h"
#include "runtime/cpu/jit.h"
#include "runtime/host/host_device.h"
#include "runtime/host/host_memory.h"
#include "runtime/host/processors.h"
#include "runtime/host/thread_pool.h"

using namespace halo::rt;

namespace {

constexpr std::int64_t kMostBlocks = 64;
std::array<std::atomic<int>, kMostBlocks> blocks_done;
std::atomic<int> streamed, unstreamed, misused;  // calls
long rows_of_plane;

void mark_blocks(void* const* /*arguments*/, long begin, long end, long planes, bool streams) {
    ++(streams ? streamed : unstreamed);
    if (begin >= end || begin / rows_of_plane != (end - 1) / rows_of_plane) ++misused;
    for (long plane = 0; plane < planes; ++plane)
        for (long block = begin; block < end; ++block)
            ++blocks_done.at(static_cast<std::size_t>(plane * rows_of_plane + block));
}

class MarkingCode : public HostCode {
public:
    void* find(const std::string& /*name*/) override { return reinterpret_cast<void*>(&mark_blocks); }
};

}  // namespace

TEST_CASE("threads: a kernel that may go strip by strip, past the caches, does each block once") {
    for (const int threads : {1, 2, 3}) {
        const std::unique_ptr<Device> device = make_host_device(threads);
        for (const std::int64_t rows : {1, 3, 7}) {
            for (const std::int64_t planes : {1, 2, 5, 9}) {
                for (const std::int64_t strip : {0, 1, 2, 3, 10}) {
                    for (const bool may_stream : {false, true}) {
                        const std::unique_ptr<Module> module =
                            make_host_module(std::make_unique<MarkingCode>());
                        KernelPlan plan;
                        plan.tile = {100, 1, 1};
                        Kernel& kernel = *module->find_kernel(plan);
                        rows_of_plane = rows;
                        kernel.set_order({strip, may_stream});
                        for (auto& times : blocks_done)
                            times = 0;
                        streamed = unstreamed = 0;
                        constexpr int kRounds = 12;  // the first ones find which order is faster
                        for (int round = 0; round < kRounds; ++round)
                            device->launch(kernel, {1, rows, planes}, nullptr);
                        for (std::int64_t block = 0; block < kMostBlocks; ++block)
                            CHECK(blocks_done.at(static_cast<std::size_t>(block)) ==
                                  (block < rows * planes ? kRounds : 0));
                        CHECK(misused == 0);
                        CHECK((streamed > 0) == may_stream);
                        CHECK(unstreamed > 0);
                    }
                }
            }
        }
    }
}

TEST_CASE("threads: every unit is done once, by the same split each time") {
    for (const int threads : {1, 2, 3, 7}) {
        ThreadPool pool(threads);
        CHECK(pool.threads() == threads);
        for (const std::int64_t count : {0, 1, 2, 5, 7, 64, 1001}) {
            std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
            std::atomic<int> parts{0};
            for (int round = 0; round < 20; ++round) {
                pool.run(count, [&](std::int64_t begin, std::int64_t end) {
                    ++parts;
                    for (std::int64_t i = begin; i < end; ++i)
                        ++done[static_cast<std::size_t>(i)];
                });
            }
            for (const auto& times : done)
                CHECK(times == 20);
            CHECK(parts <= 20 * threads);
        }
    }
}

TEST_CASE("threads: a failure in a part reaches the caller, and the pool lives on") {
    ThreadPool pool(3);
    for (const std::int64_t bad : {0, 50, 99}) {
        CHECK_THROWS_AS(pool.run(100,
                                 [&](std::int64_t begin, std::int64_t end) {
                                     if (begin <= bad && bad < end) throw std::runtime_error("bad");
                                 }),
                        std::runtime_error);
        std::atomic<std::int64_t> sum{0};
        pool.run(100, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
        CHECK(sum == 100);
    }
}

TEST_CASE("threads: processors and the number asked for") {
    CHECK(parse_processor_list("0-2,5\n") == std::vector<int>{0, 1, 2, 5});
    CHECK(parse_processor_list("7") == std::vector<int>{7});
    CHECK(parse_processor_list("").empty());
    CHECK(parse_processor_list("x").empty());
    CHECK(parse_processor_list("3-1").empty());
    CHECK(parse_cache_size("1024K\n") == 1 << 20);
    CHECK(parse_cache_size("32M") == 32 << 20);
    CHECK(parse_cache_size("64") == 64);
    CHECK(parse_cache_size("") == 0);
    CHECK(parse_cache_size("-1K") == 0);
    const std::vector<int> processors = usable_processors();
    REQUIRE_FALSE(processors.empty());
    CHECK(std::set<int>(processors.begin(), processors.end()).size() == processors.size());

    ::setenv("HALO_NUM_THREADS", "5", 1);
    CHECK(default_threads() == 5);
    for (const char* bad : {"0", "-1", "two", "4097", "3 "}) {
        ::setenv("HALO_NUM_THREADS", bad, 1);
        CHECK_THROWS_AS(default_threads(), Error);
    }
    ::unsetenv("HALO_NUM_THREADS");
    CHECK(default_threads() == static_cast<int>(processors.size()));
}

TEST_CASE("host memory: aligned, zero, apart from each other; too much is refused with figures") {
    for (const std::int64_t bytes : {1, 255, 4096, 1 << 20, 16 << 20}) {
        void* first = allocate_host(bytes);
        void* second = allocate_host(bytes);
        CHECK(reinterpret_cast<std::uintptr_t>(first) % 256 == 0);
        CHECK(reinterpret_cast<std::uintptr_t>(first) % 4096 !=
              reinterpret_cast<std::uintptr_t>(second) % 4096);
        CHECK(static_cast<char*>(first)[bytes - 1] == 0);
        std::memset(first, 1, static_cast<std::size_t>(bytes));
        CHECK(static_cast<char*>(second)[bytes - 1] == 0);
        release_host(first);
        release_host(second);
    }
    CHECK(host_memory().total_bytes > 0);
    CHECK(host_memory().free_bytes > 0);
    CHECK_THROWS_AS(allocate_host(std::numeric_limits<std::int64_t>::max()), Error);
    CHECK_THROWS_AS(allocate_host(host_memory().total_bytes * 2), Error);
}

TEST_CASE("cpu: a build without a compiler says why") {
    CHECK(cpu_available() == cpu_unavailable_reason().empty());
    if (!cpu_available()) CHECK_THROWS_AS(compile_object("int x;"), Error);
}
