#include "compiler/schedule/fuse.h"

#include "compiler/schedule/resident.h"
#include "compiler/schedule/strategies.h"

namespace halo::schedule {

namespace {

// Each counts as so many additions.
constexpr int kOfDivision = 8, kOfFunction = 20;

std::int64_t operations_of_cell(const Operations& work) {
    return work.adds + work.multiplies + work.fmas + work.comparisons +
           std::int64_t{kOfDivision} * (work.divisions + work.roots) +
           std::int64_t{kOfFunction} * (work.functions + work.draws);
}

}  // namespace

bool can_share_launch(const Footprint& footprint) {
    return footprint.reductions == 0 && footprint.table_sums == 0 && !footprint.at_points &&
           !footprint.swept_within;
}

bool shares_launch(const Footprint& footprint, const Schedule& schedule) {
    return own_setting(schedule, Setting::fuse).value_or(0) > 0 && can_share_launch(footprint);
}

double seconds_in_turn(const Footprint& footprint, const Extent& extent) {
    return fuse_model::kStageSeconds + fuse_model::kCellSeconds * cells_of(own_extent(footprint, extent));
}

bool is_small(const Footprint& footprint, const Schedule& schedule, const Extent& extent) {
    if (!own_setting(schedule, Setting::fuse) || !can_share_launch(footprint) || footprint.swept_axis)
        return false;
    if (fuse_model::kThreads % (schedule.threads[0] * schedule.threads[1] * schedule.threads[2]) != 0)
        return false;
    const double cells = cells_of(own_extent(footprint, extent));
    const auto operations = static_cast<double>(operations_of_cell(footprint.operations));
    return cells <= fuse_model::kMostCells && cells * operations <= fuse_model::kMostOperations;
}

}  // namespace halo::schedule
