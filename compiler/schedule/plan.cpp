#include "compiler/schedule/plan.h"

#include "compiler/schedule/print.h"

namespace halo::schedule {

std::string print(const Grouping& grouping, int rank) {
    if (const auto* temporal = std::get_if<TemporalSchedule>(&grouping)) return print(*temporal, rank);
    if (const auto* resident = std::get_if<ResidentSchedule>(&grouping)) return print(*resident, rank);
    return std::string(kSingleSteps);
}

int steps_at_once(const Grouping& grouping) {
    const auto* temporal = std::get_if<TemporalSchedule>(&grouping);
    return temporal == nullptr ? 1 : temporal->steps;
}

Grouping fitted(Grouping grouping, const Extent& extent) {
    if (auto* resident = std::get_if<ResidentSchedule>(&grouping)) *resident = fitted(*resident, extent);
    return grouping;
}

std::vector<std::string> texts_of(const Plan& plan, int rank) {
    std::vector<std::string> texts;
    for (const Schedule& stage : plan.stages)
        texts.push_back(print(stage, rank));
    if (!std::holds_alternative<SingleSteps>(plan.grouping)) texts.push_back(print(plan.grouping, rank));
    return texts;
}

}  // namespace halo::schedule
