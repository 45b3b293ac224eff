#include "runtime/api/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "halocline/error.hpp"
#include "runtime/api/errors.h"
#include "runtime/core/geometry.h"

namespace halocline::detail {

namespace rt = halo::rt;

namespace {

constexpr int kMaxLevels = 1 << 16;

}  // namespace

rt::ElementType checked_type(Type type) {
    if (type <= Type::boolean) return static_cast<rt::ElementType>(type);
    refuse(fmt::format("there is no type {}; types are numbered from 0 (f32) to {} (boolean)",
                       static_cast<int>(type), static_cast<int>(Type::boolean)));
}

void check_grid(const Grid& grid) {
    if (grid.empty() || grid.size() > rt::kMaxRank)
        refuse(fmt::format("a grid has 1 to {} axes, not {}", rt::kMaxRank, grid.size()));
    rt::check_extents(static_cast<int>(grid.size()), [&] {
        halo::rt::Extent extent{};
        std::ranges::copy(grid, extent.begin());
        return extent;
    }());
}

void check_place(const Grid& grid, const Place& place) {
    check_grid(grid);
    const std::string cells = fmt::format("{}", fmt::join(grid, " x "));
    const std::int64_t rows = grid.size() > 1 ? grid[1] : 1, planes = grid.size() > 2 ? grid[2] : 1;
    const std::int64_t volumes = grid.size() > 3 ? grid[3] : 1;
    if (place.pitch < grid[0] || place.pitch > rt::kMaxElements)
        refuse(fmt::format("rows {} elements apart cannot hold the {} cells of a row", place.pitch, grid[0]));
    // Both below 2^60 and 2^31: the product is checked before it is computed.
    const auto fits = [](std::int64_t distance, std::int64_t count) {
        return distance <= rt::kMaxElements / std::max<std::int64_t>(count, 1);
    };
    if (!fits(place.pitch, rows) ||
        (planes > 1 && (place.slice > rt::kMaxElements || !fits(place.slice, planes))) ||
        (volumes > 1 && (place.volume > rt::kMaxElements || !fits(place.volume, volumes))))
        refuse(fmt::format("{} cells in rows {} and planes {} elements apart are too many to index", cells,
                           place.pitch, place.slice));
    if (planes > 1 && place.slice < place.pitch * (rows - 1) + grid[0])
        refuse(fmt::format("planes {} elements apart cannot hold {} rows that are {} apart", place.slice,
                           rows, place.pitch));
    const std::int64_t of_volume =
        (planes - 1) * (planes > 1 ? place.slice : 0) + (rows - 1) * place.pitch + grid[0];
    if (volumes > 1 && place.volume < of_volume)
        refuse(fmt::format("volumes {} elements apart cannot hold {} planes that are {} apart", place.volume,
                           planes, place.slice));
    const std::int64_t needed = (volumes - 1) * (volumes > 1 ? place.volume : 0) + of_volume;
    if (place.first_cell < 0 || place.elements < 0 || place.elements > rt::kMaxElements ||
        place.first_cell > place.elements || place.elements - place.first_cell < needed)
        refuse(fmt::format(
            "{} cells need cell (0,0,0), here element {}, and {} elements from it on; the array has "
            "{} elements{}",
            cells, place.first_cell, needed, place.elements,
            place.element_bytes == 0 ? "" : fmt::format(" of {} bytes", place.element_bytes)));
}

std::int64_t volume_of(const View& view, const Grid& grid) {
    if (grid.size() <= 3) return 0;  // whatever a caller has left there
    return view.volume == 0 ? view.slice * grid[2] : view.volume;
}

void check_levels(int past, int scratch) {
    if (past >= 0 && scratch >= 0 && past <= kMaxLevels && scratch <= kMaxLevels) return;
    refuse(fmt::format(
        "a field keeps 0 to {0} levels of the past, and has 0 to {0} arrays that steps write next; "
        "not {1} and {2}",
        kMaxLevels, past, scratch));
}

std::size_t checked_count(int count, const char* what) {
    if (count < 0) refuse(fmt::format("{} cannot have {} items", what, count));
    return static_cast<std::size_t>(count);
}

void check_finite(std::span<const double> values, const std::string& what) {
    const auto bad = std::ranges::find_if_not(values, [](double value) { return std::isfinite(value); });
    if (bad == values.end()) return;
    refuse(fmt::format("{} must be finite, and {} was given{}", what, *bad,
                       values.size() == 1 ? "" : fmt::format(" (value {})", bad - values.begin())));
}

void check_steps(std::int64_t count, std::int64_t done) {
    if (count < 0) refuse(fmt::format("{} steps cannot be done", count));
    if (count > std::numeric_limits<std::int64_t>::max() - done)
        refuse(fmt::format("{} steps after {} are too many to count", count, done));
}

}  // namespace halocline::detail
