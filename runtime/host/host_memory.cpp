#include "runtime/host/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "runtime/core/error.h"

namespace halo::rt {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Stands right before each array.
struct Allocation {
    void* base;
    std::size_t bytes;
};

// Arrays of one run are read at the same places at once. Were they all to begin at the same place of a page,
// their rows would compete for the same lines of the caches, and a load would wait for an unrelated store
// 4096 bytes away.
std::size_t next_stagger() {
    static std::atomic<std::size_t> count{0};
    return (count++ % 13 + 1) * 1280;
}

std::string gigabytes(double bytes) {
    std::ostringstream text;
    text.precision(3);
    text << bytes / 1e9 << " GB";
    return text.str();
}

std::int64_t number_in(const std::string& path) {
    std::ifstream file(path);
    std::int64_t number = -1;
    return file >> number ? number : -1;  // "max" and no file: no bound
}

}  // namespace

void* allocate_host(std::int64_t bytes) {
    const MemoryInfo memory = host_memory();
    const auto refuse = [&] {
        throw Error(ErrorCode::out_of_memory, "an array of " + gigabytes(static_cast<double>(bytes)) +
                                                  " does not fit in this machine's memory; " +
                                                  gigabytes(static_cast<double>(memory.free_bytes)) + " of " +
                                                  gigabytes(static_cast<double>(memory.total_bytes)) +
                                                  " are free");
    };
    if (bytes < 1 || bytes > std::numeric_limits<std::int64_t>::max() / 2) refuse();
    // Linux overcommits memory and may kill the process later, so the free memory is checked first.
    if (memory.total_bytes > 0 && bytes > memory.free_bytes) refuse();
    const bool huge = static_cast<std::size_t>(bytes) >= 2 * kHugePage;
    const std::size_t whole = static_cast<std::size_t>(bytes) + 14 * 1280 + (huge ? kHugePage : 0) + kPage;
    void* base =
        ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) refuse();
    if (huge) ::madvise(base, whole, MADV_HUGEPAGE);
    auto start = reinterpret_cast<std::uintptr_t>(base);
    if (huge) start = (start + kHugePage - 1) / kHugePage * kHugePage;
    auto* array = reinterpret_cast<char*>(start + next_stagger());
    reinterpret_cast<Allocation*>(array)[-1] = {base, whole};
    return array;
}

void release_host(void* address) noexcept {
    if (address == nullptr) return;
    const Allocation allocation = static_cast<Allocation*>(address)[-1];
    ::munmap(allocation.base, allocation.bytes);
}

MemoryInfo host_memory() {
    MemoryInfo memory;
    std::ifstream file("/proc/meminfo");
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name;
        std::int64_t kilobytes = 0;
        if (!(words >> name >> kilobytes)) continue;
        if (name == "MemTotal:") memory.total_bytes = kilobytes * 1024;
        if (name == "MemAvailable:") memory.free_bytes = kilobytes * 1024;
    }
    const std::int64_t bound = number_in("/sys/fs/cgroup/memory.max");
    const std::int64_t used = number_in("/sys/fs/cgroup/memory.current");
    if (bound > 0 && used >= 0 && bound < memory.total_bytes) {
        memory.total_bytes = bound;
        // File caches count as used and give way; half of what is used is a conservative estimate of what
        // stays.
        memory.free_bytes = std::min(memory.free_bytes, std::max<std::int64_t>(0, bound - used / 2));
    }
    return memory;
}

}  // namespace halo::rt
