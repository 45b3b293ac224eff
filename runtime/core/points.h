// Points: places off the grid, and the cells that each of them touches.
//
// A point spreads over the cells around it with a weight for each: what is injected at the point comes to a
// cell times its weight, and what is sampled is the sum of the cells times theirs. The weights of several
// axes are multiplied. Along one axis, with q = (position - origin) / spacing,
//   linear  the two cells around q have the weights 1 - f and f, f the way from the lower one to q;
//   sinc    the 2 r cells around q have sin(pi d) / (pi d) * I0(b sqrt(1 - (d / r)^2)) / I0(b), d the
//   distance from q
//           in cells: a sinc under Kaiser's window, with the b that Hicks (Geophysics 67, 156-166, 2002)
//           found best for r and waves of four cells and longer.
// Weights of cells outside of the grid are dropped. A point itself lies on the grid: 0 <= q <= n - 1, else
// Error with code bad_argument names it.
//
// Nothing on the device adds atomically: for injecting there is a list of the cells that are touched at all,
// each with the points that touch it in their order; for sampling a list of each point's cells in memory
// order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/launch_plan.h"

namespace halo::rt {

inline constexpr int kMaxSincRadius = 10;

// A part of a grid: what of it a list is for. Its cells count from its own first.
struct PointWindow {
    std::array<std::int64_t, kMaxRank> first{};
    Extent extent{};
    std::array<bool, kMaxRank> wraps{};  // cells past an end of the whole grid are those at its other end
};

struct PointGrid {
    int rank = 1;
    Extent extent{};
    std::array<double, kMaxRank> spacing{1, 1, 1, 1}, origin{};
    std::optional<PointWindow> window;
};

struct TouchedCell {
    std::array<std::int32_t, kMaxRank> cell{};
    double weight = 0;
};

// The cells of one point, x fastest; `name` and `number` are for the message.
std::vector<TouchedCell> touched_cells(const PointsPlan& plan, const PointGrid& grid, const double* position,
                                       std::size_t number);

// What kernels are given, by Argument::part. All arrays are dense; [point] counts from 0.
enum class PointsPart : std::uint8_t {
    cell_x,  // i32 by touched cell: its index along each axis
    cell_y,
    cell_z,
    cell_begin,    // i32 by touched cell, and one more: where its entries begin
    entry_point,   // i32 by entry: the point
    entry_weight,  // f64 by entry
    point_begin,   // i32 by point, and one more: where its samples begin
    sample_x,      // i32 by sample
    sample_y,
    sample_z,
    sample_weight,  // f64 by sample
    first_column    // f64 by point: the columns, then the traces, each its row of this step
};
constexpr bool holds_indices(PointsPart part) {
    return part != PointsPart::entry_weight && part != PointsPart::sample_weight &&
           part < PointsPart::first_column;
}
enum class PointsCount : std::uint8_t { touched, points };

struct PointLists {
    std::vector<std::int32_t> cell_x, cell_y, cell_z, cell_begin, entry_point;
    std::vector<double> entry_weight;
    std::vector<std::int32_t> point_begin, sample_x, sample_y, sample_z;
    std::vector<double> sample_weight;
};
// positions: rank numbers for each point. In a window each touched cell is there as often as the window has
// it, and a point is sampled where the window has all its cells; elsewhere it has none.
PointLists make_point_lists(const PointsPlan& plan, const PointGrid& grid,
                            const std::vector<double>& positions);

}  // namespace halo::rt
