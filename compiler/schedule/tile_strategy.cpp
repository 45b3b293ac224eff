#include "compiler/schedule/tile_strategy.h"

#include <algorithm>

#include "compiler/schedule/strategy_parts.h"
#include "compiler/schedule/tile_model.h"

namespace halo::schedule {

namespace {

// A thread computes one cell after the other from shared memory.
RegisterEstimate tile_registers(const Footprint& footprint, const Schedule& /*schedule*/) {
    int reads = 0;
    for (const LevelRead& read : footprint.reads)
        reads += static_cast<int>(read.offsets.size()) * words_of(read.type);
    const int base = base_registers(footprint);
    return {base, base + std::min(reads, tile_model::kMostReadsInFlight)};
}

std::optional<StagedLevel> stage_tile(const LevelRead& read, const Footprint& footprint,
                                      const Schedule& schedule) {
    if (!read.at_neighbours()) return std::nullopt;
    return plain_level(read, footprint, schedule, std::get<Tile>(schedule.strategy).padding);
}

// Single cells, as neighbouring threads take neighbouring cells.
std::vector<SharedLoad> tile_loads(const LevelRead& read, const Footprint& /*footprint*/,
                                   const Schedule& /*schedule*/) {
    std::vector<SharedLoad> loads;
    for (const ir::Offset& offset : read.offsets)
        loads.push_back({offset, 1});
    return loads;
}

}  // namespace

StrategyKind tile_strategy() {
    StrategyKind kind;
    kind.name = "tile";
    kind.title = "shared-memory tiles";
    kind.neutral = Tile{};
    kind.settings = {{Setting::padding, setting_in<Tile, &Tile::padding>, kNoRowsToPad}};
    kind.refusals = kStagedRefusals;
    kind.takes_vectors = false;
    kind.most_cells = 4096;
    kind.registers = tile_registers;
    kind.stage = stage_tile;
    kind.loads = tile_loads;
    kind.staged = "the tile";
    kind.taken_per_cell = [](const LevelRead& read, const Footprint&, const Schedule&, double) {
        return static_cast<double>(read.offsets.size()) + 1;
    };
    kind.latency = [](const Footprint&, const Schedule&, const BlockFacts& facts) {
        return few_warps(facts.warps, tile_model::kWarpsToHideLatency) * tile_model::kBarrierFactor;
    };
    kind.is_likely = [](const Footprint&, const Pins&) { return false; };
    kind.cells = [](const Footprint& footprint) { return cell_boxes(footprint, {1}, footprint.rank, true); };
    kind.threads = [](const Footprint& footprint) { return thread_shapes(footprint.rank); };
    kind.least_registers = [](const Schedule&) { return kFewWhereStaged; };
    kind.easy_registers = [](const Schedule&, const Target&) { return kRegisterBudget; };
    kind.listed_vector = 4;
    kind.listed_cells = 16;
    kind.reason = [](const Footprint&, const Schedule&) {
        return std::string("each cell is fetched once for a block and shared by its threads");
    };
    return kind;
}

}  // namespace halo::schedule
