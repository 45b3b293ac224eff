#include "compiler/driver/planning/offline_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/exit_code.h"

namespace halo::driver {

namespace {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; multiprocessors and cache of
// the largest GPU of each.
struct Arch {
    const char* name;
    int sms, max_threads_per_sm, max_blocks_per_sm;
    std::int64_t shared_per_block, shared_per_sm, l2_bytes;
    double dram_bandwidth;  // about nine tenths of what the memory is specified for
};
constexpr std::int64_t kKiB = 1024, kMiB = kKiB * 1024;
constexpr std::array kArchs = {
    Arch{"sm_75", 72, 1024, 16, 64 * kKiB, 64 * kKiB, 6 * kMiB, 0.6e12},
    Arch{"sm_80", 108, 2048, 32, 163 * kKiB, 164 * kKiB, 40 * kMiB, 1.75e12},
    Arch{"sm_86", 84, 1536, 16, 99 * kKiB, 100 * kKiB, 6 * kMiB, 0.85e12},
    Arch{"sm_89", 142, 1536, 24, 99 * kKiB, 100 * kKiB, 96 * kMiB, 0.85e12},
    Arch{"sm_90", 132, 2048, 32, 227 * kKiB, 228 * kKiB, 60 * kMiB, 4.29e12},
    Arch{"sm_100", 148, 2048, 32, 227 * kKiB, 228 * kKiB, 126 * kMiB, 7.0e12},
    Arch{"sm_120", 188, 1536, 24, 99 * kKiB, 100 * kKiB, 128 * kMiB, 1.6e12},
};

}  // namespace

std::vector<std::string> known_archs() {
    std::vector<std::string> names;
    for (const Arch& arch : kArchs)
        names.emplace_back(arch.name);
    return names;
}

schedule::Target offline_target(const std::string& arch) {
    const auto known =
        std::find_if(kArchs.begin(), kArchs.end(), [&](const Arch& each) { return arch == each.name; });
    if (known == kArchs.end())
        throw CommandError(ExitCode::usage, fmt::format("there is no architecture `{}` that is known", arch),
                           fmt::format("it is one of {}", join(known_archs(), ", ")));
    schedule::Target target;
    target.name = arch;
    target.sms = known->sms;
    target.max_threads_per_sm = known->max_threads_per_sm;
    target.max_blocks_per_sm = known->max_blocks_per_sm;
    target.max_shared_bytes = known->shared_per_block;
    target.shared_bytes_per_sm = known->shared_per_sm;
    target.l2_bytes = known->l2_bytes;
    target.dram_bandwidth = known->dram_bandwidth;
    return target;
}

}  // namespace halo::driver
