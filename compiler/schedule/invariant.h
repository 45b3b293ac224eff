// Step-invariant values: what all steps compute of an input at each cell, in the same way. A kernel of
// several steps computes such a value once, where the input's plane arrives, and keeps it in the input's
// place.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::schedule {

// The largest expression that stands for every read of the input under `roots`, and is made of it, params and
// constants alone. None where the input is read at a neighbour, where its reads have no such expression of
// the input's type in common, or where computing it each time costs next to nothing.
std::optional<ir::ExprId> step_invariant(const ir::Program& program, const std::vector<ir::ExprId>& roots,
                                         ir::FieldId input);

}  // namespace halo::schedule
