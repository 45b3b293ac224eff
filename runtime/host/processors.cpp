#include "runtime/host/processors.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include "runtime/core/error.h"

namespace halo::rt {

namespace {

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::vector<int> allowed_processors() {
    std::vector<int> allowed;
    // The set's size is not known beforehand: the call fails while the buffer is too small for the machine.
    for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
        cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(capacity));
        if (set == nullptr) break;
        const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
        const bool known = ::sched_getaffinity(0, bytes, set) == 0;
        for (int processor = 0; known && processor < capacity; ++processor)
            if (CPU_ISSET_S(static_cast<std::size_t>(processor), bytes, set)) allowed.push_back(processor);
        CPU_FREE(set);
        if (known) break;
    }
    if (allowed.empty()) allowed.push_back(0);
    return allowed;
}

// One processor of each physical core: stencils are bound by memory, and siblings share its ports.
std::vector<int> one_of_each_core(const std::vector<int>& allowed) {
    std::vector<int> chosen;
    for (const int processor : allowed) {
        const std::vector<int> siblings = parse_processor_list(first_line(
            "/sys/devices/system/cpu/cpu" + std::to_string(processor) + "/topology/thread_siblings_list"));
        const bool taken = std::any_of(siblings.begin(), siblings.end(), [&](int sibling) {
            return std::find(chosen.begin(), chosen.end(), sibling) != chosen.end();
        });
        if (!taken) chosen.push_back(processor);
    }
    return chosen;
}

// Processors' worth of time that the control group grants (version 2, then 1), rounded up.
std::optional<int> quota() {
    std::string group;
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);)
        if (line.rfind("0::", 0) == 0) group = line.substr(3);
    double limit = 0, period = 0;
    for (const std::string& folder : {"/sys/fs/cgroup" + group, std::string("/sys/fs/cgroup")}) {
        std::istringstream text(first_line(folder + "/cpu.max"));
        if (text >> limit >> period) break;  // "max 100000" fails: no limit
        limit = 0;
    }
    if (limit <= 0) {
        std::istringstream quota_text(first_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"));
        std::istringstream period_text(first_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
        if (!(quota_text >> limit) || !(period_text >> period)) return std::nullopt;
    }
    if (limit <= 0 || period <= 0) return std::nullopt;
    return std::max(1, static_cast<int>(std::min(limit / period + 0.999, double{kMaxThreads})));
}

}  // namespace

std::vector<int> parse_processor_list(const std::string& text) {
    std::vector<int> processors;
    std::istringstream input(text);
    for (std::string part; std::getline(input, part, ',');) {
        std::istringstream range(part);
        int first = 0, last = 0;
        char dash = 0;
        if (!(range >> first)) return {};
        last = first;
        if (range >> dash && (dash != '-' || !(range >> last))) return {};
        if (first < 0 || last < first || last > 1 << 20) return {};
        for (int processor = first; processor <= last; ++processor)
            processors.push_back(processor);
    }
    return processors;
}

std::vector<int> usable_processors() {
    std::vector<int> chosen = one_of_each_core(allowed_processors());
    if (const std::optional<int> limit = quota(); limit && chosen.size() > static_cast<std::size_t>(*limit))
        chosen.resize(static_cast<std::size_t>(*limit));
    return chosen;
}

void use_processors(const std::vector<int>& processors) {
    const int capacity = 1 + *std::max_element(processors.begin(), processors.end());
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(capacity));
    if (set == nullptr) return;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
    CPU_ZERO_S(bytes, set);
    for (const int processor : processors)
        CPU_SET_S(static_cast<std::size_t>(processor), bytes, set);
    ::sched_setaffinity(0, bytes, set);
    CPU_FREE(set);
}

int default_threads() {
    const char* asked = std::getenv("HALO_NUM_THREADS");
    if (asked == nullptr || *asked == '\0') return static_cast<int>(usable_processors().size());
    char* end = nullptr;
    const long threads = std::strtol(asked, &end, 10);
    if (*end != '\0' || threads < 1 || threads > kMaxThreads) {
        throw Error(ErrorCode::bad_argument, "HALO_NUM_THREADS is \"" + std::string(asked) +
                                                 "\"; a number of threads from 1 to 4096 is expected");
    }
    return static_cast<int>(threads);
}

CacheSizes cache_sizes() {
    const std::vector<int> usable = usable_processors();
    const std::string folder =
        "/sys/devices/system/cpu/cpu" + std::to_string(usable.front()) + "/cache/index";
    CacheSizes sizes;
    for (int index = 0;; ++index) {
        const std::string cache = folder + std::to_string(index);
        const std::string type = first_line(cache + "/type");
        if (type.empty()) break;
        if (type == "Instruction") continue;
        const std::int64_t bytes = parse_cache_size(first_line(cache + "/size"));
        const std::vector<int> sharers = parse_processor_list(first_line(cache + "/shared_cpu_list"));
        const auto sharing = std::count_if(usable.begin(), usable.end(), [&](int processor) {
            return std::find(sharers.begin(), sharers.end(), processor) != sharers.end();
        });
        // On a machine of one core no cache is shared; the last cache is still not as fast as the one before
        // it.
        if (first_line(cache + "/level") == "3" || sharing > 1) {
            sizes.common_bytes = bytes;
            sizes.sharing = std::max(1, static_cast<int>(sharing));
        } else {
            sizes.own_bytes = std::max(sizes.own_bytes, bytes);
        }
    }
    return sizes;
}

std::int64_t parse_cache_size(const std::string& text) {
    std::istringstream input(text);
    std::int64_t size = 0;
    char unit = 'B';
    if (!(input >> size) || size < 0 || size > 1 << 30) return 0;
    input >> unit;
    return unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : size;
}

std::string processor_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("model name", 0) != 0) continue;
        const std::size_t colon = line.find(": ");
        if (colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown processor";
}

}  // namespace halo::rt
