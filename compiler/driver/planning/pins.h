// What the user pins of a plan: the texts of --schedule, and the file's schedule block.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/planning/compile.h"

namespace halo::driver {

struct Pinned {
    std::string text;    // empty: nothing
    std::string origin;  // how messages name it
    ExitCode code = ExitCode::usage;
};

// The texts of --schedule for stages, without those for how steps are grouped.
std::vector<std::string> stage_texts(const CodeOptions& options);
// For stage `index` of `count`. Throws CommandError (usage) where the texts are not as many as the stages.
Pinned pinned_for_stage(const CodeOptions& options, std::size_t index, std::size_t count);
// For how steps are grouped. Throws CommandError (usage) where it is said twice.
Pinned pinned_for_grouping(const CodeOptions& options);

// Throws CommandError where there are any.
void refuse_mistakes(const Pinned& pinned, const std::vector<schedule::Mistake>& mistakes, int rank);

}  // namespace halo::driver
