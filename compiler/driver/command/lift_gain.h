// What a lifted stencil would bring on a GPU, by the model that `haloc explain` tells of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/driver/planning/target_figures.h"

namespace halo::driver {

struct LiftGain {
    std::int64_t bytes = 0;  // that must cross the memory bus for a cell
    double flops = 0;        // of a cell
    schedule::Extent extent{};
    bool is_typical = true;  // the extent: the function's sizes are parameters
    double cells_per_second = 0;
};

// spec: the text of one stencil. extent: where the function fixes it. nullopt where the model says nothing of
// such a program.
std::optional<LiftGain> lift_gain(const std::string& spec, const std::optional<schedule::Extent>& extent,
                                  const TargetHere& here);

}  // namespace halo::driver
