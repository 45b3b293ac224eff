#include "compiler/schedule/shared_layout.h"

#include <algorithm>
#include <set>

#include "compiler/schedule/strategies.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

namespace {

constexpr int kBankBytes = 4;
constexpr int kBanks = 32;
constexpr int kWarp = 32;
constexpr int kMostPadding = 32;

const LevelRead& read_of(const Footprint& footprint, const StagedLevel& level) {
    return *std::ranges::find_if(footprint.reads, [&](const LevelRead& read) {
        return read.field == level.field && read.time == level.time;
    });
}

// Element of a staged level that holds a thread's first cell; along the streaming axis the slot is the same
// for all.
std::int64_t first_element(const StagedLevel& level, const Schedule& schedule, int thread, int streaming) {
    const rt::Lengths at{thread % schedule.threads[0], thread / schedule.threads[0] % schedule.threads[1],
                         thread / (schedule.threads[0] * schedule.threads[1])};
    std::array<std::int64_t, 3> cell{};
    for (int axis = 0; axis < 3; ++axis) {
        if (axis == streaming) continue;
        const int step = kind_of(schedule).takes_vectors ? schedule.cells[axis] : 1;
        cell[axis] = (axis == 0 ? level.origin : level.low[axis]) + std::int64_t{at[axis]} * step;
    }
    return (cell[2] * level.rows + cell[1]) * level.pitch + cell[0];
}

// Passes of one warp's access: 4-byte accesses go 32 threads at a time, 8-byte 16, 16-byte 8. Threads that
// touch the same word share it.
int count_passes(const std::vector<std::int64_t>& bytes, int access_bytes) {
    const std::size_t group =
        static_cast<std::size_t>(kWarp * kBankBytes / std::max(kBankBytes, access_bytes));
    int passes = 0;
    for (std::size_t begin = 0; begin < bytes.size(); begin += group) {
        std::vector<std::int64_t> words;
        const std::size_t end = std::min(bytes.size(), begin + group);
        for (std::size_t thread = begin; thread < end; ++thread) {
            for (int byte = 0; byte < access_bytes; byte += kBankBytes) {
                words.push_back((bytes[thread] + byte) / kBankBytes);
            }
        }
        std::ranges::sort(words);
        words.erase(std::unique(words.begin(), words.end()), words.end());
        std::array<int, kBanks> depth{};
        for (const std::int64_t word : words)
            ++depth[static_cast<std::size_t>(word % kBanks)];
        passes += *std::ranges::max_element(depth);
    }
    return passes;
}

struct Passes {
    int passes = 1;
    int least = 1;
};

// The passes of the block's worst warp. They are the same for every offset, as an offset rotates the banks of
// all threads by the same amount.
Passes worst_passes(const StagedLevel& level, const Schedule& schedule, int streaming, int width) {
    const int threads = schedule.threads[0] * schedule.threads[1] * schedule.threads[2];
    const int access_bytes = width * size_of(level.type);
    Passes worst{0, 0};
    for (int begin = 0; begin < threads; begin += kWarp) {
        std::vector<std::int64_t> bytes;
        for (int thread = begin; thread < std::min(threads, begin + kWarp); ++thread) {
            bytes.push_back(first_element(level, schedule, thread, streaming) * size_of(level.type));
        }
        const int total = static_cast<int>(bytes.size()) * access_bytes;
        const int least = std::max(1, (total + kBanks * kBankBytes - 1) / (kBanks * kBankBytes));
        const int passes = count_passes(bytes, access_bytes);
        if (begin == 0 || passes - least > worst.passes - worst.least) worst = {passes, least};
    }
    return worst;
}

int all_conflicts(const Footprint& footprint, const Schedule& schedule) {
    int conflicts = 0;
    for (const SharedAccess& access :
         shared_accesses(footprint, schedule, make_shared_layout(footprint, schedule))) {
        conflicts += access.conflicts();
    }
    return conflicts;
}

}  // namespace

SharedLayout make_shared_layout(const Footprint& footprint, const Schedule& schedule) {
    SharedLayout layout;
    const StrategyKind& kind = kind_of(schedule);
    if (kind.stage == nullptr) return layout;
    for (const LevelRead& read : footprint.reads) {
        std::optional<StagedLevel> level = kind.stage(read, footprint, schedule);
        if (!level) continue;
        level->offset = layout.bytes;
        layout.bytes += (level->bytes() + kind.alignment - 1) / kind.alignment * kind.alignment;
        layout.levels.push_back(*level);
    }
    return layout;
}

double ring_plane_bytes(const SharedLayout& layout) {
    double bytes = 0;
    for (const StagedLevel& level : layout.levels)
        bytes += level.plane_elements * size_of(level.type);
    return bytes;
}

std::vector<SharedAccess> shared_accesses(const Footprint& footprint, const Schedule& schedule,
                                          const SharedLayout& layout) {
    std::vector<SharedAccess> accesses;
    for (int index = 0; index < static_cast<int>(layout.levels.size()); ++index) {
        const StagedLevel& level = layout.levels[static_cast<std::size_t>(index)];
        for (const SharedLoad& load :
             kind_of(schedule).loads(read_of(footprint, level), footprint, schedule)) {
            const Passes cost =
                worst_passes(level, schedule, streaming_axis(schedule, footprint.rank), load.width);
            accesses.push_back({index, load.offset, load.width, cost.passes, cost.least});
        }
    }
    return accesses;
}

Padding choose_padding(const Footprint& footprint, Schedule schedule) {
    set_own(schedule, Setting::padding, 0);
    const SharedLayout plain = make_shared_layout(footprint, schedule);
    if (plain.levels.empty()) return {0, "nothing is staged in shared memory, so there is nothing to pad"};
    const int unpadded = all_conflicts(footprint, schedule);
    if (unpadded == 0) return {0, "no padding: without it no access has a bank conflict"};
    int vector = 1;
    for (const StagedLevel& level : plain.levels)
        vector = std::max(vector, level.vector);
    Padding best{0, ""};
    int fewest = unpadded;
    for (const int step : {vector, 1}) {  // whole vectors first: they keep copies of rows wide
        if (step == 1 && kind_of(schedule).pads_whole_vectors) continue;
        for (int padding = step; padding <= kMostPadding && fewest > 0; padding += step) {
            set_own(schedule, Setting::padding, padding);
            const int conflicts = all_conflicts(footprint, schedule);
            if (conflicts >= fewest) continue;
            fewest = conflicts;
            best.elements = padding;
        }
    }
    if (best.elements == 0) {
        best.reason =
            "no padding: none takes away any of the " + counted(unpadded, "bank conflict") + " a warp has";
    } else {
        best.reason = "rows are padded by " + counted(best.elements, "element") +
                      ": a warp's accesses have " + counted(fewest, "bank conflict") + " in place of " +
                      grouped(unpadded);
    }
    return best;
}

}  // namespace halo::schedule
