#include "runtime/core/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "runtime/core/error.h"

namespace halo::rt {

namespace {

constexpr double kPi = 3.14159265358979323846;

// Hicks' table 1 by radius, 1 to 10, for a source without direction and waves of four cells and longer.
constexpr std::array<double, kMaxSincRadius> kKaiser{1.24, 2.94,  4.53,  6.31,  7.91,
                                                     9.42, 10.95, 12.53, 14.09, 14.18};

// The modified Bessel function of order 0, by its power series: all terms are positive.
double bessel_i0(double x) {
    const double quarter = x * x / 4;
    double sum = 1, term = 1;
    for (int k = 1; term > 1e-17 * sum; ++k) {
        term *= quarter / (static_cast<double>(k) * k);
        sum += term;
    }
    return sum;
}

struct AxisWeight {
    std::int32_t index = 0;
    double weight = 0;
};

std::vector<AxisWeight> axis_weights(const PointsPlan& plan, double q, std::int64_t extent) {
    const int radius = plan.interpolation == PointsPlan::Interpolation::sinc ? plan.radius : 1;
    const auto low = static_cast<std::int64_t>(std::floor(q));
    std::vector<AxisWeight> weights;
    for (std::int64_t index = low - radius + 1; index <= low + radius; ++index) {
        if (index < 0 || index >= extent) continue;
        const double distance = q - static_cast<double>(index);
        double weight = 1 - std::fabs(distance);
        if (plan.interpolation == PointsPlan::Interpolation::sinc) {
            const double b = kKaiser[static_cast<std::size_t>(radius - 1)];
            const double inside = 1 - (distance / radius) * (distance / radius);
            const double sinc = distance == 0 ? 1 : std::sin(kPi * distance) / (kPi * distance);
            weight = inside > 0 ? sinc * bessel_i0(b * std::sqrt(inside)) / bessel_i0(b) : 0;
        }
        // Where a point lies on a cell, the other weights are nothing but the rounding of sin(pi k).
        const bool on_cell = q == static_cast<double>(low);
        if (weight == 0 || (on_cell && index != low)) continue;
        weights.push_back({static_cast<std::int32_t>(index), weight});
    }
    return weights;
}

[[noreturn]] void refuse_outside(const PointsPlan& plan, const PointGrid& grid, const double* position,
                                 std::size_t number) {
    std::string place, ranges;
    for (int axis = 0; axis < grid.rank; ++axis) {
        const double last =
            grid.origin[axis] + grid.spacing[axis] * static_cast<double>(grid.extent[axis] - 1);
        place += fmt::format("{}{}", axis ? ", " : "", position[axis]);
        ranges += fmt::format("{}{} to {}", axis ? ", " : "", grid.origin[axis], last);
    }
    throw Error(ErrorCode::bad_argument,
                fmt::format("point {} of '{}' is at ({}), outside of the grid, which spans {}", number,
                            plan.name, place, ranges));
}

}  // namespace

std::vector<TouchedCell> touched_cells(const PointsPlan& plan, const PointGrid& grid, const double* position,
                                       std::size_t number) {
    std::array<std::vector<AxisWeight>, kMaxRank> weights;
    weights.fill({{0, 1.0}});
    for (int axis = 0; axis < grid.rank; ++axis) {
        const double q = (position[axis] - grid.origin[axis]) / grid.spacing[axis];
        if (!(q >= 0 && q <= static_cast<double>(grid.extent[axis] - 1)))
            refuse_outside(plan, grid, position, number);
        weights[axis] = axis_weights(plan, q, grid.extent[axis]);
    }
    std::vector<TouchedCell> cells;
    for (const AxisWeight& z : weights[2]) {
        for (const AxisWeight& y : weights[1]) {
            for (const AxisWeight& x : weights[0])
                cells.push_back({{x.index, y.index, z.index}, x.weight * y.weight * z.weight});
        }
    }
    return cells;
}

namespace {

using CellIndex = std::array<std::int32_t, kMaxRank>;

// Maps a cell of the whole grid to the window, `periods` times around periodic axes; nothing where the window
// has it not.
std::optional<CellIndex> in_window(const PointGrid& grid, const CellIndex& cell,
                                   const std::array<int, kMaxRank>& periods) {
    if (!grid.window) return cell;
    CellIndex result{};
    for (std::size_t axis = 0; axis < result.size(); ++axis) {
        const std::int64_t index = cell[axis] - grid.window->first[axis] + periods[axis] * grid.extent[axis];
        if (index < 0 || index >= grid.window->extent[axis]) return std::nullopt;
        result[axis] = static_cast<std::int32_t>(index);
    }
    return result;
}

// Lists every place in the window where the cell lies.
std::vector<CellIndex> all_in_window(const PointGrid& grid, const CellIndex& cell) {
    if (!grid.window) return {cell};
    const auto& wraps = grid.window->wraps;
    std::vector<CellIndex> places;
    for (int z = -int{wraps[2]}; z <= int{wraps[2]}; ++z)
        for (int y = -int{wraps[1]}; y <= int{wraps[1]}; ++y)
            for (int x = -int{wraps[0]}; x <= int{wraps[0]}; ++x)
                if (const std::optional<CellIndex> place = in_window(grid, cell, {x, y, z}))
                    places.push_back(*place);
    return places;
}

}  // namespace

PointLists make_point_lists(const PointsPlan& plan, const PointGrid& grid,
                            const std::vector<double>& positions) {
    struct Entry {
        std::int32_t point;
        double weight;
    };
    PointLists lists;
    std::map<std::array<std::int32_t, 3>, std::vector<Entry>> by_cell;  // z first: memory order
    const std::size_t count = positions.size() / static_cast<std::size_t>(grid.rank);
    lists.point_begin.push_back(0);
    for (std::size_t point = 0; point < count; ++point) {
        const double* position = positions.data() + point * static_cast<std::size_t>(grid.rank);
        const std::vector<TouchedCell> touched_by_point = touched_cells(plan, grid, position, point);
        const bool has_all = std::all_of(
            touched_by_point.begin(), touched_by_point.end(),
            [&](const TouchedCell& touched) { return in_window(grid, touched.cell, {}).has_value(); });
        for (const TouchedCell& touched : touched_by_point) {
            if (has_all) {
                const CellIndex cell = *in_window(grid, touched.cell, {});
                lists.sample_x.push_back(cell[0]);
                lists.sample_y.push_back(cell[1]);
                lists.sample_z.push_back(cell[2]);
                lists.sample_weight.push_back(touched.weight);
            }
            for (const CellIndex& cell : all_in_window(grid, touched.cell))
                by_cell[{cell[2], cell[1], cell[0]}].push_back(
                    {static_cast<std::int32_t>(point), touched.weight});
        }
        if (lists.sample_weight.size() > std::numeric_limits<std::int32_t>::max())
            throw Error(ErrorCode::bad_argument,
                        fmt::format("the points '{}' touch too many cells for one list", plan.name));
        lists.point_begin.push_back(static_cast<std::int32_t>(lists.sample_weight.size()));
    }
    lists.cell_begin.push_back(0);
    for (const auto& [cell, entries] : by_cell) {
        lists.cell_x.push_back(cell[2]);
        lists.cell_y.push_back(cell[1]);
        lists.cell_z.push_back(cell[0]);
        for (const Entry& entry : entries) {
            lists.entry_point.push_back(entry.point);
            lists.entry_weight.push_back(entry.weight);
        }
        lists.cell_begin.push_back(static_cast<std::int32_t>(lists.entry_point.size()));
    }
    return lists;
}

}  // namespace halo::rt
