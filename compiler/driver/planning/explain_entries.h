// The entries of `haloc explain` that say what a stage does: its reads, writes, arithmetic and shared memory.
#pragma once

#include <string>
#include <string_view>

#include "compiler/driver/planning/compile.h"
#include "compiler/ir/program.h"
#include "compiler/schedule/footprint.h"

namespace halo::driver {

// One entry of a stage: a title, and text that is wrapped in a column to its right.
std::string explain_entry(std::string_view title, std::string_view text, int width);

std::string describe_reads(const ir::Program& program, const schedule::Footprint& footprint);
std::string describe_writes(const ir::Program& program, const StageChoice& stage);
std::string describe_operations(const schedule::Operations& operations);
// The flops that cells share with their neighbours.
std::string describe_sharing(const schedule::Footprint& footprint);

// The shared memory of a block: a picture of each staged level, and the cost of its accesses.
std::string explain_shared(const ir::Program& program, const StageChoice& stage, int width);

}  // namespace halo::driver
