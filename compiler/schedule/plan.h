// Plan: how a whole program runs. Plain data; nothing in it can change what is computed.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/schedule/resident.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/temporal.h"

namespace halo::schedule {

// Each time step is a launch of each stage's kernel.
struct SingleSteps {
    friend bool operator==(const SingleSteps&, const SingleSteps&) = default;
};
inline constexpr std::string_view kSingleSteps = "single steps";  // its text

// How time steps share launches. Single steps do what is left over of a run, and what watched reductions
// need.
using Grouping = std::variant<SingleSteps, TemporalSchedule, ResidentSchedule>;

// rank: axes of the program. Reads back as the same grouping (groupings.h).
std::string print(const Grouping& grouping, int rank);
int steps_at_once(const Grouping& grouping);  // that one launch computes, whatever the run's length
// The same grouping for grids whose remainders are those of this one.
Grouping fitted(Grouping grouping, const Extent& extent);

struct Plan {
    std::vector<Schedule> stages;  // one for each of ir::form_stages()
    Grouping grouping = SingleSteps{};
    friend bool operator==(const Plan&, const Plan&) = default;
};

// As --schedule takes them: the stages' in order, then the grouping where it is not single steps.
std::vector<std::string> texts_of(const Plan& plan, int rank);

// Seconds of a time step in single steps, by the model: of all stages' cells, of their launches, and of the
// host that reads watched reductions.
struct StepCost {
    double cells = 0, launches = 0, checks = 0;
    double total() const { return cells + launches + checks; }
};

}  // namespace halo::schedule
