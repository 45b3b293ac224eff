#include "compiler/schedule/resident_grouping.h"

#include "compiler/schedule/groupings.h"
#include "compiler/schedule/resident_model.h"

namespace halo::schedule {

namespace {

ResidentPins resident_pins(const GroupingRequest& request) {
    return request.pinned ? parse_resident(*request.pinned, request.program.rank()).pins : ResidentPins();
}

// All steps are one launch, so no reduction can be read between them.
std::string why_not_resident(const ir::Program&, const std::vector<std::string>& watched) {
    return watched.empty() ? "" : "the run looks at `" + watched.front() + "` after every step";
}

GroupingChoice choose_on_chip(const GroupingRequest& request) {
    ResidentChoice made =
        choose_resident(request.program, request.target, request.extent, resident_pins(request));
    GroupingChoice choice{std::nullopt, std::move(made.reason), made.seconds_per_step};
    if (made.schedule) choice.grouping = *made.schedule;
    return choice;
}

GroupingCandidates list_on_chip(const GroupingRequest& request) {
    ResidentCandidates list =
        list_resident_candidates(request.program, request.target, request.extent, resident_pins(request));
    return {std::move(list.found), std::move(list.why_none)};
}

}  // namespace

const GroupingKind& resident_grouping() {
    static const GroupingKind kind{
        "resident",
        "all steps on the chip",
        "all steps on the chip",
        resident_model::kCompileSeconds,
        true,
        [](std::string_view text, int rank) { return parse_resident(text, rank).mistakes; },
        [](int rank) -> std::string {
            return rank == 3 ? "resident threads=32x2x4 cells=4x4x4" : "resident threads=32x8 cells=4x4";
        },
        why_not_resident,
        choose_on_chip,
        list_on_chip};
    return kind;
}

}  // namespace halo::schedule
