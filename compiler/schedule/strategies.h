// The table of strategies, by which stages of single steps run. A new one joins the variant Strategy
// (schedule.h), supplies a StrategyKind from a file of its own and is listed in strategies.cpp; its kernel is
// a function of compiler/lower, called from lower/lower.cpp. No other code asks which strategy a schedule
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
};

// What a schedule is chosen for.
struct ChoiceContext {
    const Footprint& footprint;
    const Target& target;
    const std::optional<Extent>& extent;  // none: not known
    Extent grid;                          // the extent, or a typical one
    const Pins& pins;
};

// What the model knows of the blocks of a schedule.
struct BlockFacts {
    const Target& target;
    std::array<double, 3> cells;   // of a block
    std::int64_t resident = 1;     // blocks that fit on an SM at a time
    std::int64_t busiest = 1;      // blocks of the busiest SM
    std::int64_t blocks = 1;       // of the grid
    int warps = 1;                 // that the busiest SM runs at a time
    bool bound_by_memory = false;  // by the device's memory, not by a cache
};

struct StrategyKind {
    std::string_view name;   // the word of its text
    std::string_view title;  // in the comment above a kernel
    Strategy neutral;        // its settings left open
    std::vector<OwnSetting> settings;
    Refusals refusals;
    bool walks = false;             // along the slowest of two or three axes, where threads and cells are 1
    bool takes_vectors = true;      // a thread's cells are neighbours, those along the first axis one vector
    std::int64_t most_cells = 128;  // of a thread
    // What is in the way of the settings that it alone has, once lengths are sane; null: nothing.
    std::vector<Reason> (*check)(const Footprint& footprint, const Schedule& schedule,
                                 const Target& target) = nullptr;
    RegisterEstimate (*registers)(const Footprint& footprint, const Schedule& schedule);

    // ---- shared memory; stage is null where nothing is there

    // How a level lies there; nullopt: it is read where it is.
    std::optional<StagedLevel> (*stage)(const LevelRead& read, const Footprint& footprint,
                                        const Schedule& schedule) = nullptr;
    // What a thread loads of it for its first row of cells.
    std::vector<SharedLoad> (*loads)(const LevelRead& read, const Footprint& footprint,
                                     const Schedule& schedule) = nullptr;
    std::string_view staged;          // what is there: "the tile"
    int alignment = 16;               // bytes, of each level
    bool pads_whole_vectors = false;  // rows are read by vectors

    // ---- the model of cost.h

    // Elements that a thread takes from L1 or shared memory for each of its cells; fetched: those that its
    // block takes from L2.
    double (*taken_per_cell)(const LevelRead& read, const Footprint& footprint, const Schedule& schedule,
                             double fetched);
    // A factor on the time of the memories, 1 or more: latency that is not hidden.
    double (*latency)(const Footprint& footprint, const Schedule& schedule, const BlockFacts& facts);

    // ---- choosing (defaults.h) and listing (space.h)

    // Whether it is worth a try where the user pins none.
    bool (*is_likely)(const Footprint& footprint, const Pins& pins);
    // Cells of a thread, threads of a block, in order of preference.
    std::vector<std::array<int, 3>> (*cells)(const Footprint& footprint);
    std::vector<std::array<int, 3>> (*threads)(const Footprint& footprint);
    // Registers that a thread's limit is not chosen below, and those up to which estimates are trusted.
    int (*least_registers)(const Schedule& schedule);
    int (*easy_registers)(const Schedule& schedule, const Target& target);
    double tightest = 1;                       // a share of the latter that the compiler still makes do with
    int listed_vector = 8, listed_cells = 64;  // of a thread, at most, for the tuner
    // Settings of its own that depend on threads, cells and min_blocks: sets those that are one number, then
    // lists the ways to share the grid out, in order of preference. Null: it has none.
    void (*settle)(Schedule& schedule, const ChoiceContext& context) = nullptr;
    std::vector<Schedule> (*share_out)(const Schedule& schedule, const ChoiceContext& context) = nullptr;
    // Others like it, of which the model knows nothing, for the tuner; null: none.
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
// Leaves a schedule alone that has no such setting.
void set_own(Schedule& schedule, Setting setting, int value);
// `pins`, which may name settings that the strategy has not.
void set_pinned(Schedule& schedule, const Pins& pins);
bool has_pinned_settings(const StrategyKind& kind, const Pins& pins);
// Why the schedule's strategy has no such setting; only of settings that it has not.
std::string why_not_own(const Schedule& schedule, Setting setting);

// The axis that blocks walk along; -1: none.
int walked_axis(const Schedule& schedule, int rank);
// Axes that threads and cells are spread over.
int spread_axes(const StrategyKind& kind, int rank);
// Cells of a block along an axis of so many cells.
std::int64_t block_length(const Schedule& schedule, int rank, int axis, std::int64_t extent);

// "{}" in a sentence of the table is the strategy's name.
std::string in_words(std::string_view sentence, std::string_view name, std::string_view second = "");

}  // namespace halo::schedule
