// The arithmetic of nodes whose operands are numbers, in double. Private to the room.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::analysis {

// Booleans are 0 and 1. nullopt for what has no number here: leaves, table sums.
std::optional<double> known_value(const ir::Expr& expr, const std::vector<double>& operands);

}  // namespace halo::analysis
