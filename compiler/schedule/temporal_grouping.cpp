#include "compiler/schedule/temporal_grouping.h"

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

GroupingChoice choose_grouping(const GroupingRequest& request) {
    TemporalChoice made = choose_temporal(request.program, request.target, request.extent,
                                          temporal_pins(request), request.watched);
    GroupingChoice choice{std::nullopt, std::move(made.reason), 0};
    if (!made.schedule) return choice;
    choice.grouping = *made.schedule;
    choice.seconds_per_step = made.seconds_per_cell * cells_of(request.extent) +
                              request.target.graph_launch_seconds / made.schedule->steps;
    return choice;
}

GroupingCandidates list_groupings(const GroupingRequest& request) {
    TemporalCandidates list = list_temporal_candidates(request.program, request.target, request.extent,
                                                       temporal_pins(request), request.watched);
    return {std::move(list.found), std::move(list.why_none)};
}

}  // namespace

const GroupingKind& temporal_grouping() {
    static const GroupingKind kind{
        "temporal",
        "several steps at once",
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
