#include "compiler/driver/running/picture_cut.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/running/saved_part.h"

namespace halo::driver {

namespace {

Cut asked_cut(const RunRequest& request, const FileArgument& argument, const std::string& option,
              const ir::Field& field) {
    const auto axis = std::ranges::find(request.axes, *argument.axis);
    if (axis == request.axes.end()) throw_unknown(request.name, "axis", *argument.axis, request.axes);
    const Cut cut{static_cast<int>(axis - request.axes.begin()), argument.index};
    if (request.rank() < 3) {
        refuse_usage(fmt::format("{} {}@{}: a picture of {} shows the whole grid, not a slice", option,
                                 argument.field, *argument.axis, request.name));
    }
    if (!field.grid.has_all_axes())
        refuse_usage(fmt::format("{} {}@{}: a picture of {} shows all of it, not a slice", option,
                                 argument.field, *argument.axis, argument.field));
    const std::int64_t cells = field.grid.extent(request.extent)[static_cast<std::size_t>(cut.axis)];
    if (cut.index < 0 || cut.index >= cells) {
        refuse_usage(fmt::format("{} {}@{}={}: the grid has {} cells along {}, numbered from 0 to {}", option,
                                 argument.field, *argument.axis, argument.index, cells, *argument.axis,
                                 cells - 1));
    }
    return cut;
}

// A picture has two axes: of more than are left the last ones are cut in their middle.
std::vector<Cut> with_usual_cuts(const RunRequest& request, const ir::Field& field, std::vector<Cut> cuts) {
    const Extent cells = field.grid.extent(request.extent);
    std::size_t left = static_cast<std::size_t>(field.grid.rank(request.rank())) - cuts.size();
    for (int axis = request.rank() - 1; left > 2; --axis) {
        if (!field.grid.has(axis) || std::ranges::find(cuts, axis, &Cut::axis) != cuts.end()) continue;
        cuts.push_back({axis, cells[static_cast<std::size_t>(axis)] / 2});
        --left;
    }
    return cuts;
}

}  // namespace

std::vector<Cut> picture_cuts(const RunRequest& request, const FileArgument& argument,
                              const std::string& option, const ir::Field& field) {
    std::vector<Cut> cuts;
    if (argument.axis) cuts.push_back(asked_cut(request, argument, option, field));
    return with_usual_cuts(request, field, std::move(cuts));
}

std::vector<Cut> picture_cuts(const RunRequest& request, const sema::Plot& plot, const ir::Field& field,
                              const Console& console) {
    if (!plot.cut) return with_usual_cuts(request, field, {});
    const auto axis = static_cast<std::size_t>(plot.cut->axis);
    const std::int64_t cells = field.grid.extent(request.extent)[axis];
    const Cut cut{plot.cut->axis, plot.cut->at_position
                                      ? cell_at(request, plot.cut->axis, plot.cut->position, field)
                                      : plot.cut->index};
    if (cut.index >= 0 && cut.index < cells) return with_usual_cuts(request, field, {cut});
    console.warning(
        fmt::format("the {} of {} at {} = {} lies outside the grid of {} cells; its middle is drawn",
                    plot.fps > 0 ? "movie" : "plot", plot.field, request.axes[axis], cut.index, cells));
    return with_usual_cuts(request, field, {{plot.cut->axis, cells / 2}});
}

}  // namespace halo::driver
