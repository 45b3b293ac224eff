#include "compiler/driver/running/saved_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/driver/console/exit_code.h"

namespace halo::driver {

namespace {

class PartOfField {
public:
    PartOfField(const RunRequest& request, const std::string& field, const rt::FieldGrid& grid)
        : request_(request), field_(field), grid_(grid), extent_(grid.extent(request.extent)) {
        part_.count = extent_;
        part_.stride.fill(1);
        for (std::size_t axis = 0; axis < dropped_.size(); ++axis)
            dropped_[axis] = !grid.along[axis];
    }

    // One cell along the axis, which the array then does not have.
    void cut(int axis, std::int64_t index) {
        const auto a = static_cast<std::size_t>(axis);
        require_axis(axis);
        if (index < 0 || index >= extent_[a]) refuse(axis, fmt::format("{} = {}", request_.axes[a], index));
        part_.begin[a] = index;
        part_.count[a] = 1;
        dropped_[a] = true;
    }

    // Both ends are saved; negative ones count from the high face.
    void range(int axis, std::int64_t low, std::int64_t high, std::int64_t stride) {
        const auto a = static_cast<std::size_t>(axis);
        require_axis(axis);
        const std::int64_t cells = extent_[a];
        const std::int64_t first = low < 0 ? low + cells : low, last = high < 0 ? high + cells : high;
        if (first < 0 || last < first || last >= cells)
            refuse(axis, fmt::format("{} in {}..{}", request_.axes[a], low, high));
        part_.begin[a] = first;
        part_.count[a] = (last - first) / stride + 1;
        part_.stride[a] = stride;
    }

    void give(Output& output) const {
        output.part = part_;
        output.dropped = dropped_;
    }

    // Throws where each axis is cut.
    void require_array() const {
        const auto rank = static_cast<std::ptrdiff_t>(request_.axes.size());
        if (std::count(dropped_.begin(), dropped_.begin() + rank, true) < rank) return;
        const auto own = std::ranges::find(grid_.along, true) - grid_.along.begin();
        refuse_usage(fmt::format("--save {}: a file of one cell has no axis left", field_),
                     fmt::format("for example --save {0}@{1}=0..0 keeps the axis {1}", field_,
                                 request_.axes[static_cast<std::size_t>(own)]));
    }

private:
    void require_axis(int axis) const {
        if (grid_.has(axis)) return;
        const std::string& name = request_.axes[static_cast<std::size_t>(axis)];
        refuse_usage(fmt::format("{} cannot be saved at a cell along {}: it does not lie over {}", field_,
                                 name, name));
    }

    [[noreturn]] void refuse(int axis, const std::string& what) const {
        const auto a = static_cast<std::size_t>(axis);
        refuse_usage(
            fmt::format("{} cannot be saved at {}: the grid has {} cells along {}, numbered from 0 to {}",
                        field_, what, extent_[a], request_.axes[a], extent_[a] - 1));
    }

    const RunRequest& request_;
    const std::string& field_;
    const rt::FieldGrid grid_;
    const Extent extent_;  // the field's own cells
    rt::Lattice part_;
    std::array<bool, rt::kMaxRank> dropped_{};
};

}  // namespace

std::int64_t cell_at(const RunRequest& request, int axis, double position, const ir::Field& field) {
    const auto a = static_cast<std::size_t>(axis);
    const double fine = (position - request.origin[a]) / request.spacing[a] -
                        place_of_first_cell(field.staggered[a], field.grid);
    const double cell = std::round(fine / field.grid.factor);
    return std::isfinite(cell) && std::fabs(cell) < 1e15 ? static_cast<std::int64_t>(cell) : -1;
}

void take_part(const RunRequest& request, const sema::Save& save, const ir::Field& field, Output& output) {
    if (save.cuts.empty() && save.ranges.empty() && field.grid.has_all_axes()) return;
    PartOfField part(request, save.field, field.grid);
    for (const sema::Cut& cut : save.cuts)
        part.cut(cut.axis, cut.at_position ? cell_at(request, cut.axis, cut.position, field) : cut.index);
    for (const sema::PartRange& range : save.ranges)
        part.range(range.axis, range.low, range.high, range.stride);
    part.give(output);
}

void take_part(const RunRequest& request, const FileArgument& argument, const ir::Field& field,
               Output& output) {
    if (argument.parts.empty() && field.grid.has_all_axes()) return;
    PartOfField part(request, argument.field, field.grid);
    std::vector<bool> said(request.axes.size());
    for (const PartArgument& along : argument.parts) {
        const auto axis = std::ranges::find(request.axes, along.axis);
        if (axis == request.axes.end()) throw_unknown(request.name, "axis", along.axis, request.axes);
        const auto a = static_cast<std::size_t>(axis - request.axes.begin());
        if (said[a])
            refuse_usage(
                fmt::format("--save {}: the cells along {} are given twice", argument.field, along.axis));
        said[a] = true;
        if (along.is_plane) {
            part.cut(static_cast<int>(a), along.low);
        } else {
            part.range(static_cast<int>(a), along.low, along.high, along.stride);
        }
    }
    part.require_array();
    part.give(output);
}

}  // namespace halo::driver
