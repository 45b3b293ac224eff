#include "compiler/schedule/temporal_grouping.h"

#include "compiler/ir/repeats.h"
#include "compiler/schedule/groupings.h"
#include "compiler/schedule/temporal_model.h"

namespace halo::schedule {

namespace {

TemporalPins temporal_pins(const GroupingRequest& request) {
    return request.pinned ? parse_temporal(*request.pinned, request.program.rank()).pins : TemporalPins();
}

std::string why_not_temporal(const ir::Program& program, const std::vector<std::string>& watched) {
    return why_unwatched(temporal_core(program, watched));
}

// Kernels that leave few of the steps in a row that are alike to single steps.
StepCounts step_counts(const GroupingRequest& request) {
    const std::int64_t alike = request.steps_alike;
    if (alike == kManySteps) return {};
    return [alike](int steps) { return steps <= alike && alike % steps <= alike / 8; };
}

GroupingChoice choose_grouping(const GroupingRequest& request) {
    if (request.steps_alike == 0 && !request.pinned && !ir::has_repeats(request.program))
        return {std::nullopt, "each step is one for which a `where` of the step's number holds", 0};
    TemporalChoice made = choose_temporal(request.program, request.target, request.extent,
                                          temporal_pins(request), request.watched, step_counts(request));
    GroupingChoice choice{std::nullopt, std::move(made.reason), 0};
    if (!made.schedule) return choice;
    choice.grouping = *made.schedule;
    choice.iterations = made.iterations;
    choice.seconds_per_step =
        made.seconds_per_cell * cells_of(request.extent) +
        made.schedule->passes * request.target.graph_launch_seconds / made.schedule->steps;
    return choice;
}

GroupingCandidates list_groupings(const GroupingRequest& request) {
    TemporalCandidates list =
        list_temporal_candidates(request.program, request.target, request.extent, temporal_pins(request),
                                 request.watched, step_counts(request));
    return {std::move(list.found), std::move(list.why_none)};
}

}  // namespace

const GroupingKind& temporal_grouping() {
    static const GroupingKind kind{
        "temporal",
        "several steps at once",
        "several iterations at once",
        temporal_model::kCompileSeconds,
        false,
        [](std::string_view text, int rank) { return parse_temporal(text, rank).mistakes; },
        [](int rank) -> std::string {
            return rank == 3 ? "temporal steps=4 warps=8 cells=4x4" : "temporal steps=8 warps=4 cells=4";
        },
        why_not_temporal,
        choose_grouping,
        list_groupings};
    return kind;
}

}  // namespace halo::schedule
