// The table of strategies, by which stages of single steps run. A new one joins the variant Strategy
// (schedule.h), supplies a StrategyKind from a file of its own and is listed in strategies.cpp; its kernel is
// a function of compiler/lower, called from lower/lower.cpp. No other code tests which strategy a schedule
// has.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/schedule/footprint.h"
#include "compiler/schedule/legality.h"
#include "compiler/schedule/registers.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/shared_layout.h"

namespace halo::schedule {

// A setting of one strategy that others may not have.
struct OwnSetting {
    Setting setting;
    int& (*in)(Strategy& strategy);  // which must be of this kind
    // Said of another strategy, whose name stands for {}, where the setting is asked for.
    std::string_view not_elsewhere;
};

// Why it cannot run stages of some kinds, with {} for the strategy's name; empty: it can.
struct Refusals {
    std::string_view in_place;        // statements that change a field in place
    std::string_view narrow_storage;  // values that are converted where they are loaded; {1}: their type
    std::string_view interleaved;     // components side by side in memory
    std::string_view table_sums;
    std::string_view several_grids;  // stages of a coarser grid, and those that read another
    std::string_view four_axes;
};

// What a schedule is chosen for.
struct ChoiceContext {
    const Footprint& footprint;
    const Target& target;
    const std::optional<Extent>& extent;  // none: not known
    Extent grid;                          // the extent, or a typical one
    const Pins& pins;
};

// Facts about the blocks of a schedule, for the model.
struct BlockFacts {
    const Target& target;
    rt::ByAxis<double> cells;      // of a block
    std::int64_t resident = 1;     // blocks that fit on an SM at a time
    std::int64_t busiest = 1;      // blocks of the busiest SM
    std::int64_t blocks = 1;       // of the grid
    int warps = 1;                 // that the busiest SM runs at a time
    bool bound_by_memory = false;  // by the device's memory, not by a cache
};

// The widest vector of single bytes: two words.
constexpr int kCellsOfBytes = 8;

struct StrategyKind {
    std::string_view name;   // the word of its text
    std::string_view title;  // in the comment above a kernel
    Strategy neutral;        // its settings left open
    std::vector<OwnSetting> settings;
    Refusals refusals;
    bool streams = false;       // blocks traverse the slowest axis, where threads and cells are 1
    bool takes_vectors = true;  // a thread's cells are neighbours; those along the first axis are a vector
    bool packs_bytes = false;   // a vector may be kCellsOfBytes wide, in stages of bytes alone
    std::int64_t most_cells = 128;  // of a thread
    // Checks the strategy's own settings, after those of all strategies; null: there is nothing to check.
    std::vector<Reason> (*check)(const Footprint& footprint, const Schedule& schedule,
                                 const Target& target) = nullptr;
    RegisterEstimate (*registers)(const Footprint& footprint, const Schedule& schedule);

    // ---- shared memory; stage is null where the strategy uses none

    // The layout of a level there; nullopt: it is read from global memory.
    std::optional<StagedLevel> (*stage)(const LevelRead& read, const Footprint& footprint,
                                        const Schedule& schedule) = nullptr;
    // What a thread loads of it for its first row of cells.
    std::vector<SharedLoad> (*loads)(const LevelRead& read, const Footprint& footprint,
                                     const Schedule& schedule) = nullptr;
    std::string_view staged;          // in words: "the tile"
    int alignment = 16;               // bytes, of each level
    bool pads_whole_vectors = false;  // as rows are read by vectors

    // ---- the model of cost.h

    // Elements that a thread loads from L1 or shared memory for each of its cells; fetched: those that its
    // block loads from L2.
    double (*taken_per_cell)(const LevelRead& read, const Footprint& footprint, const Schedule& schedule,
                             double fetched);
    // A factor on the time of the memories, 1 or more, for latency that is not hidden.
    double (*latency)(const Footprint& footprint, const Schedule& schedule, const BlockFacts& facts);
    // The exponent of the norm that combines the times of the memories; null: the usual one.
    double (*blend)(const Footprint& footprint) = nullptr;

    // ---- choosing (defaults.h) and listing (space.h)

    // Whether the strategy is considered where the user pins none.
    bool (*is_likely)(const Footprint& footprint, const Pins& pins);
    // Cells of a thread, threads of a block, in order of preference.
    std::vector<rt::Lengths> (*cells)(const Footprint& footprint);
    std::vector<rt::Lengths> (*threads)(const Footprint& footprint);
    // The least limit on a thread's registers that is chosen, and the number up to which estimates are
    // trusted.
    int (*least_registers)(const Schedule& schedule);
    int (*easy_registers)(const Schedule& schedule, const Target& target);
    double tightest = 1;                       // factor on the latter up to which the compiler avoids spills
    int listed_vector = 8, listed_cells = 64;  // of a thread, at most, for the tuner
    // Own settings that depend on threads, cells and min_blocks: settle() sets those that have one value,
    // share_out() lists the ways to divide the grid among blocks, in order of preference. Null: there are
    // none.
    void (*settle)(Schedule& schedule, const ChoiceContext& context) = nullptr;
    std::vector<Schedule> (*share_out)(const Schedule& schedule, const ChoiceContext& context) = nullptr;
    // Variants in settings that the model cannot rank, for the tuner; null: none.
    std::vector<Schedule> (*vary)(const Schedule& schedule, const Pins& pins) = nullptr;

    // ---- words for people

    std::string (*reason)(const Footprint& footprint, const Schedule& schedule);  // for `haloc explain`
    std::string (*describe)(const Schedule& schedule, int rank) = nullptr;        // of its own settings
};

// In the order of the variant.
const std::vector<StrategyKind>& strategy_kinds();
const StrategyKind& kind_of(const Strategy& strategy);
const StrategyKind& kind_of(const Schedule& schedule);
const StrategyKind* find_strategy(std::string_view name);  // null: there is none

// The value of a strategy's own setting; nullopt: it has no such setting.
std::optional<int> own_setting(const Schedule& schedule, Setting setting);
// Does nothing where the strategy has no such setting.
void set_own(Schedule& schedule, Setting setting, int value);
// Takes from `pins` the settings that the strategy has.
void set_pinned(Schedule& schedule, const Pins& pins);
bool has_pinned_settings(const StrategyKind& kind, const Pins& pins);
// Why the schedule's strategy lacks the setting; only for settings that it lacks.
std::string why_not_own(const Schedule& schedule, Setting setting);

// The streaming axis; -1: the strategy has none.
int streaming_axis(const Schedule& schedule, int rank);
// The number of axes over which threads and cells are distributed.
int spread_axes(const StrategyKind& kind, int rank);
// Cells of a block along an axis of `extent` cells.
std::int64_t block_length(const Schedule& schedule, int rank, int axis, std::int64_t extent);

// "{}" in a sentence of the table is the strategy's name.
std::string in_words(std::string_view sentence, std::string_view name, std::string_view second = "");

}  // namespace halo::schedule
