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

std::optional<Cut> usual_cut(const RunRequest& request, const ir::Field& field) {
    if (request.rank() < 3 || !field.grid.has_all_axes()) return std::nullopt;
    return Cut{2, field.grid.extent(request.extent)[2] / 2};
}

}  // namespace

std::optional<Cut> picture_cut(const RunRequest& request, const FileArgument& argument,
                               const std::string& option, const ir::Field& field) {
    return argument.axis ? asked_cut(request, argument, option, field) : usual_cut(request, field);
}

std::optional<Cut> picture_cut(const RunRequest& request, const sema::Plot& plot, const ir::Field& field,
                               const Console& console) {
    if (!plot.cut) return usual_cut(request, field);
    const auto axis = static_cast<std::size_t>(plot.cut->axis);
    const std::int64_t cells = field.grid.extent(request.extent)[axis];
    const Cut cut{plot.cut->axis, plot.cut->at_position
                                      ? cell_at(request, plot.cut->axis, plot.cut->position, field)
                                      : plot.cut->index};
    if (cut.index >= 0 && cut.index < cells) return cut;
    console.warning(
        fmt::format("the {} of {} at {} = {} lies outside the grid of {} cells; its middle is drawn",
                    plot.fps > 0 ? "movie" : "plot", plot.field, request.axes[axis], cut.index, cells));
    return Cut{plot.cut->axis, cells / 2};
}

}  // namespace halo::driver
