// The table of ways to group time steps. A new one supplies a GroupingKind from its own files, joins the
// variant Grouping (plan.h) and is listed in groupings.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/schedule/plan.h"
#include "compiler/schedule/space.h"

namespace halo::schedule {

inline constexpr std::int64_t kManySteps = std::numeric_limits<std::int64_t>::max();

struct GroupingRequest {
    const ir::Program& program;  // after the passes
    const Target& target;
    Extent extent{};
    std::optional<std::string> pinned;  // settings, as text without mistakes; none: all is chosen
    std::vector<std::string> watched;   // reductions that the run reads after every step
    // Of a run's steps, how many in a row are alike (ir::conditions_of_steps): what does more at once is of
    // no use.
    std::int64_t steps_alike = kManySteps;
};

struct GroupingChoice {
    std::optional<Grouping> grouping;  // none: the program cannot run so on this grid
    std::string reason;                // a sentence: why it was chosen, or why there is none
    double seconds_per_step = 0;       // by the model, launches included
    // Its steps are iterations of this repeat, and so is what `seconds_per_step` is for.
    std::optional<Iterations> iterations{};
};

struct GroupingCandidates {
    std::vector<Candidate> found;  // by rank, without repetition; first what choose() gives
    std::string why_none;          // where there are none
};

struct GroupingKind {
    std::string_view name;   // the first word of its text
    std::string_view title;  // of its part of `haloc explain`
    // The same of a program that repeats statements within a step.
    std::string_view title_of_repeats;
    double compile_seconds = 0;  // of its kernel, on average
    // Its kernel needs all blocks on the device at once, as they wait for each other; it is for some grids
    // alone.
    bool needs_whole_grid = false;
    std::vector<Mistake> (*mistakes)(std::string_view text, int rank);
    std::string (*example)(int rank);
    // Why a run that reads these reductions after every step does not use the grouping, unless it is pinned;
    // else empty.
    std::string (*why_not_watched)(const ir::Program& program, const std::vector<std::string>& watched);
    GroupingChoice (*choose)(const GroupingRequest& request);
    GroupingCandidates (*list)(const GroupingRequest& request);
};

// In the order of the variant, which is that in which they are explained.
const std::vector<GroupingKind>& grouping_kinds();
// By the first word; null: the text is a schedule of a stage.
const GroupingKind* find_grouping(std::string_view text);
// That of the value; null: single steps.
const GroupingKind* kind_of(const Grouping& grouping);
// Mistakes in the words of a schedule: of a stage, or of how steps are grouped.
std::vector<Mistake> mistakes_in(std::string_view text, int rank);

}  // namespace halo::schedule
