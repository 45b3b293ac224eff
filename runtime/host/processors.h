// Which processors this process may use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halo::rt {

// Processor numbers for threads to be pinned to: those that the process is allowed, one of each physical
// core, no more than the control group's quota grants. At least one.
std::vector<int> usable_processors();

// From now on these alone, for this thread and those that it starts. At least one; where that is not allowed
// nothing changes.
void use_processors(const std::vector<int>& processors);

inline constexpr int kMaxThreads = 4096;  // that a device can be asked for

// Threads to run by default: as many as usable processors, or what HALO_NUM_THREADS says (1 … 4096). Throws
// Error where that is no such number.
int default_threads();

// Bytes of the caches of the first usable processor; 0 where there is none or it is not told.
struct CacheSizes {
    std::int64_t own_bytes = 0;     // the largest that only siblings of its core share
    std::int64_t common_bytes = 0;  // the last, where others share it
    int sharing = 1;                // usable processors that do
};
CacheSizes cache_sizes();

std::string processor_model();  // "AMD EPYC 9654", or "unknown processor"

// "1024K" or "32M" as the kernel writes sizes of caches; 0 where the text is no such size.
std::int64_t parse_cache_size(const std::string& text);

// "0-3,8" as the kernel writes sets of processors; empty where the text is no such list.
std::vector<int> parse_processor_list(const std::string& text);

}  // namespace halo::rt
