#include "runtime/core/axis_points.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "runtime/core/difference_weights.h"
#include "runtime/core/error.h"

namespace halo::rt {

namespace {

std::int64_t in_period(std::int64_t cell, std::int64_t period) {
    return (cell % period + period) % period;
}

}  // namespace

AxisPoints::AxisPoints(std::vector<double> distances, bool is_periodic, double origin)
    : distances_(std::move(distances)), is_periodic_(is_periodic) {
    positions_.push_back(origin);
    for (std::int64_t cell = 0; cell < cells(); ++cell)
        positions_.push_back(positions_.back() + distance(cell));
}

double AxisPoints::distance(std::int64_t cell) const {
    if (is_periodic_ || cells() == 1) return distances_[static_cast<std::size_t>(in_period(cell, cells()))];
    // Inside there is one distance fewer than there are cells.
    const std::int64_t inside = cells() - 1, there_and_back = in_period(cell, 2 * inside);
    return distances_[static_cast<std::size_t>(there_and_back < inside ? there_and_back
                                                                       : 2 * inside - 1 - there_and_back)];
}

double AxisPoints::position(std::int64_t cell, bool at_half) const {
    if (cell < 0) return positions_.front() + way(0, false, static_cast<int>(cell), at_half);
    if (cell > cells())
        return positions_.back() + way(cells(), false, static_cast<int>(cell - cells()), at_half);
    return positions_[static_cast<std::size_t>(cell)] + (at_half ? distance(cell) / 2 : 0);
}

// Of what lies between the points alone: positions that are far from 0 would lose digits.
double AxisPoints::way(std::int64_t cell, bool from_half, int by, bool to_half) const {
    double sum = 0;
    for (int i = 0; i < by; ++i)
        sum += distance(cell + i);
    for (int i = -1; i >= by; --i)
        sum -= distance(cell + i);
    if (to_half) sum += distance(cell + by) / 2;
    if (from_half) sum -= distance(cell) / 2;
    return sum;
}

double AxisPoints::value(const AxisTable& table, std::int64_t cell) const {
    if (table.cells.empty()) return position(cell, table.at_half);
    std::vector<double> nodes;
    for (const int by : table.cells)
        nodes.push_back(way(cell, table.at_half, by, table.cells_at_half));
    return difference_weights(table.derivative, nodes, 0.0)[static_cast<std::size_t>(table.node)];
}

std::vector<double> AxisPoints::values(const AxisTable& table) const {
    std::vector<double> result;
    for (std::int64_t cell = 0; cell < cells(); ++cell)
        result.push_back(value(table, cell + table.shift));
    return result;
}

void check_distances(const std::vector<double>& distances, bool is_periodic, const std::string& axis) {
    const std::size_t last = is_periodic || distances.size() == 1 ? distances.size() : distances.size() - 1;
    for (std::size_t i = 0; i < last; ++i)
        if (!(distances[i] > 0) || !std::isfinite(distances[i]))
            throw Error(ErrorCode::bad_argument,
                        fmt::format("the spacing of `{0}` must be greater than 0, and is {1} in the cell "
                                    "{0} = {2}",
                                    axis, distances[i], i));
}

}  // namespace halo::rt
