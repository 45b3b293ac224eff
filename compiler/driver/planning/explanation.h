// What `haloc explain` and explain() of host programs tell: how each stage of a program would run on a GPU,
// how its steps are grouped, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/driver/planning/compile.h"
#include "compiler/driver/planning/pieces_plan.h"
#include "compiler/driver/planning/target_figures.h"

namespace halo::driver {

enum class ExplanationForm : std::uint8_t { text, json };

// options: for the target that `here` tells of. asked: how the grid would be cut is told, too; the options
// have one. Throws CommandError, rt::Error.
std::string explanation(const ir::Program& checked, CodeOptions options, const TargetHere& here,
                        const std::optional<PiecesRequest>& asked, ExplanationForm form, int width);

}  // namespace halo::driver
