#include "runtime/core/session/parts.h"

#include <fmt/format.h>

#include <numeric>

#include "runtime/core/plan_check.h"
#include "runtime/core/text.h"

namespace halo::rt::session {

namespace {

// Checks the geometry in SessionOptions for arrays that are the caller's.
void check_geometry(const LaunchPlan& plan, const Geometry& geometry, const Device& device) {
    const Geometry least = view_geometry(plan.rank, geometry.extent, plan.halo, device.row_layout(),
                                         geometry.pitch, geometry.slice);
    const std::int64_t after = geometry.elements - geometry.origin,
                       least_after = least.elements - least.origin;
    if (geometry.origin >= least.origin && after >= least_after) return;
    throw Error(
        ErrorCode::bad_argument,
        fmt::format(
            "arrays of '{}' need {} elements before cell (0,0,0) and {} from it on; these have {} and "
            "{}",
            plan.name, least.origin, least_after, geometry.origin, after));
}

void check_fixed_grid(const LaunchPlan& plan, const Geometry& geometry) {
    if (!plan.fixed_grid) return;
    const FixedGrid& fixed = *plan.fixed_grid;
    if (geometry.extent != fixed.extent)
        throw Error(
            ErrorCode::bad_argument,
            fmt::format("the code of '{}' is for a grid of {} cells alone, and this one has {}", plan.name,
                        extent_text(plan.rank, fixed.extent), extent_text(plan.rank, geometry.extent)));
    if (geometry.pitch != fixed.pitch || (plan.rank > 2 && geometry.slice != fixed.slice))
        throw Error(
            ErrorCode::bad_argument,
            fmt::format("the code of '{}' is for arrays with rows {} elements apart{}, and these have {}{}",
                        plan.name, fixed.pitch,
                        plan.rank > 2 ? fmt::format(" and planes {}", fixed.slice) : "", geometry.pitch,
                        plan.rank > 2 ? fmt::format(" and {}", geometry.slice) : ""));
}

void check_reaches(const LaunchPlan& plan, const Geometry& geometry) {
    std::vector<CellsNeeded> needs;
    std::vector<CoarseGrid> coarse;
    for (const FieldPlan& field : plan.fields) {
        coarse.push_back({field.name, field.grid.factor, {}});
        for (int axis = 0; axis < plan.rank; ++axis) {
            coarse.back().is_periodic[static_cast<std::size_t>(axis)] =
                field.boundary[axis][0].kind == BoundaryKind::periodic;
            for (int side = 0; side < 2; ++side)
                needs.push_back(
                    {field.name, axis, side, field.boundary[axis][side].reach, field.grid.factor});
        }
    }
    check_coarse_grids(plan.axes, coarse, geometry.extent);
    check_cells_needed(plan.axes, needs, geometry.extent);
}

}  // namespace

Setup::Setup(LaunchPlan the_plan, const Extent& extent, Device& the_device, const SessionOptions& the_options)
    : plan(std::move(the_plan)), options(the_options), device(&the_device) {
    check_plan(plan);
    if (options.geometry) {
        geometry = *options.geometry;
        check_geometry(plan, geometry, *device);
    } else {
        geometry = make_geometry(plan.rank, extent, plan.halo, device->row_layout());
    }
    check_fixed_grid(plan, geometry);
    check_reaches(plan, geometry);
}

bool Setup::has_room_in(const Geometry& other) const {
    if (other.rank != geometry.rank || other.extent != geometry.extent || other.layout != geometry.layout)
        return false;
    try {
        check_geometry(plan, other, *device);
    } catch (const Error&) {
        return false;
    }
    return true;
}

Clock::Clock(const LaunchPlan& plan) {
    for (const FieldPlan& field : plan.fields)
        cycle = std::lcm(cycle, std::int64_t{level_count(field)});
}

Params::Params(const LaunchPlan& plan) : plan_(plan) {
    for (const ParamPlan& param : plan.params)
        numbers_.push_back(param.default_value);
}

std::vector<double> Params::values() const {
    std::vector<double> values;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
        if (!numbers_[i])
            throw Error(ErrorCode::bad_argument,
                        fmt::format("parameter '{}' of '{}' has no default and was not given a value",
                                    plan_.params[i].name, plan_.name));
        values.push_back(*numbers_[i]);
    }
    return values;
}

}  // namespace halo::rt::session
