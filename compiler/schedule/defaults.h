// Choosing a schedule: candidates in order of preference, ranked by cost.h, limited by legality.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/legality.h"

namespace halo::schedule {

struct Choice {
    Schedule schedule;
    std::string reason;  // sentences for `haloc explain`
};

// The schedule for a stage; what is pinned stays as it is and the rest is chosen around it. Without an extent
// the grid is taken to be large. Where nothing is pinned the choice is legal. Where no schedule with the
// pinned values is, the nearest comes back for check() to say what is in the way: callers that pin must call
// it.
Choice choose(const ir::Program& program, const ir::Stage& stage, const Target& target,
              const std::optional<Extent>& extent = std::nullopt, const Pins& pins = {});
Choice choose(const Footprint& footprint, const Target& target,
              const std::optional<Extent>& extent = std::nullopt, const Pins& pins = {});

// Blocks an SM that choose() limits registers for, with the schedule's threads and cells.
int usual_min_blocks(const Footprint& footprint, const Schedule& schedule, const Target& target);

// The weight by which choose() orders schedules of stages that sum over tables, least first; it has no unit.
double rank_table_sums(const Footprint& footprint, const Schedule& schedule, const Target& target,
                       const Extent& grid);

}  // namespace halo::schedule
