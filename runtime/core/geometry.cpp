#include "runtime/core/geometry.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/core/error.h"
#include "runtime/core/text.h"

namespace halo::rt {

namespace {

constexpr std::int64_t kAlignment = 32;       // elements
constexpr std::int64_t kTightAlignment = 16;  // a line of a CPU's caches, or several
constexpr std::int64_t kUnluckyPitch =
    512;  // rows of doubles a page apart compete for the same lines of a cache

std::int64_t round_up(std::int64_t value, std::int64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

Geometry make_geometry(int rank, const Extent& extent, const std::array<std::array<int, 2>, kMaxRank>& halo,
                       RowLayout layout) {
    check_extents(rank, extent);
    for (int axis = 0; axis < rank; ++axis)
        for (int width : halo[axis])
            if (width < 0) throw Error(ErrorCode::bad_argument, "a halo cannot be narrower than 0 cells");

    Geometry geometry;
    geometry.rank = rank;
    geometry.extent = extent;
    geometry.layout = layout;
    const bool tight = layout == RowLayout::tight;
    const std::int64_t pad = round_up(halo[0][0], tight ? kTightAlignment : kAlignment);
    if (tight) {
        geometry.pitch = round_up(extent[0] + halo[0][0] + halo[0][1], kTightAlignment);
        if (rank > 1 && geometry.pitch % kUnluckyPitch == 0) geometry.pitch += kTightAlignment;
    } else {
        geometry.pitch = pad + round_up(extent[0] + halo[0][1], kAlignment);
    }
    if (geometry.pitch > kMaxExtent)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("a row of {} cells and its halo are too long to index", extent[0]));
    const auto padded = [&](int axis) {
        return axis < rank ? extent[axis] + halo[axis][0] + halo[axis][1] : 1;
    };
    geometry.slice = geometry.pitch * padded(1);  // both below 2^32
    if (geometry.slice > kMaxElements / padded(2) / padded(3))
        throw Error(ErrorCode::bad_argument,
                    fmt::format("a grid of {} cells is too large to index", extent_text(rank, extent)));
    geometry.volume = geometry.slice * padded(2);
    geometry.elements = geometry.volume * padded(3);
    if (tight) geometry.elements += pad;  // the left halo of the first row; the others' lie in the row before
    // The last vector of the last row may read past its halo; in other rows that is the next row's pad.
    if (!tight && halo[0][1] > 0) geometry.elements += kAlignment;
    geometry.origin = pad;
    if (rank > 1) geometry.origin += halo[1][0] * geometry.pitch;
    if (rank > 2) geometry.origin += halo[2][0] * geometry.slice;
    if (rank > 3) geometry.origin += halo[3][0] * geometry.volume;
    return geometry;
}

namespace {

// The least pitch: rows that lie closer would share cells of their halos.
std::int64_t least_pitch(const Extent& extent, const std::array<int, 2>& halo, RowLayout layout) {
    if (layout == RowLayout::tight) return extent[0] + halo[0] + halo[1];
    return round_up(halo[0], kAlignment) + round_up(extent[0] + halo[1], kAlignment);
}

void check_pitch(std::int64_t pitch, std::int64_t least, RowLayout layout) {
    const std::int64_t multiple = layout == RowLayout::tight ? 1 : kAlignment;
    if (pitch >= least && pitch % multiple == 0 && pitch <= kMaxExtent) return;
    throw Error(
        ErrorCode::bad_argument,
        fmt::format("rows {} elements apart do not fit: the pitch must be {} or more{}, for the cells of a "
                    "row and what is read beside them",
                    pitch, least, multiple == 1 ? "" : fmt::format(" and a multiple of {}", multiple)));
}

void check_slice(std::int64_t slice, std::int64_t pitch, std::int64_t rows) {
    if (slice >= pitch * rows && slice % pitch == 0) return;
    throw Error(
        ErrorCode::bad_argument,
        fmt::format("planes {} elements apart do not fit: the slice must be {} (the pitch times {} rows) or "
                    "more, and a multiple of the pitch, {}",
                    slice, pitch * rows, rows, pitch));
}

}  // namespace

Geometry view_geometry(int rank, const Extent& extent, const std::array<std::array<int, 2>, kMaxRank>& halo,
                       RowLayout layout, std::int64_t pitch, std::int64_t slice) {
    Geometry geometry = make_geometry(rank, extent, halo, layout);  // checks the extents
    const std::int64_t rows = rank > 1 ? extent[1] + halo[1][0] + halo[1][1] : 1;
    check_pitch(pitch, least_pitch(extent, halo[0], layout), layout);
    if (rank > 2) check_slice(slice, pitch, rows);
    geometry.pitch = pitch;
    geometry.slice = rank > 2 ? slice : pitch * rows;
    const std::int64_t left = layout == RowLayout::tight ? halo[0][0] : round_up(halo[0][0], kAlignment);
    geometry.volume = geometry.slice * (rank > 2 ? extent[2] + halo[2][0] + halo[2][1] : 1);
    geometry.origin = left + (rank > 1 ? halo[1][0] * pitch : 0) + (rank > 2 ? halo[2][0] * slice : 0) +
                      (rank > 3 ? halo[3][0] * geometry.volume : 0);
    // Counts the elements to the end of the last row. Vectors at its end may reach as far as those of
    // make_geometry().
    std::int64_t right = extent[0] + halo[0][1];
    if (layout == RowLayout::padded) right = round_up(right, kAlignment) + (halo[0][1] > 0 ? kAlignment : 0);
    geometry.elements = geometry.origin + right;
    if (rank > 1) geometry.elements += (extent[1] - 1 + halo[1][1]) * pitch;
    if (rank > 2) geometry.elements += (extent[2] - 1 + halo[2][1]) * slice;
    if (rank > 3) geometry.elements += (extent[3] - 1 + halo[3][1]) * geometry.volume;
    return geometry;
}

Geometry geometry_of_grid(int factor, const Geometry& grid,
                          const std::array<std::array<int, 2>, kMaxRank>& halo) {
    if (factor == 1) return grid;
    return make_geometry(grid.rank, FieldGrid::coarse(factor).extent(grid.extent), halo, grid.layout);
}

Geometry geometry_of_field(const FieldGrid& field, const Geometry& grid,
                           const std::array<std::array<int, 2>, kMaxRank>& halo) {
    if (field.has_all_axes()) return geometry_of_grid(field.factor, grid, halo);
    const auto own = field.halo(halo);
    Geometry geometry;
    geometry.rank = grid.rank;
    geometry.extent = field.extent(grid.extent);
    const std::int64_t rows = geometry.extent[1] + own[1][0] + own[1][1];
    const std::int64_t planes = geometry.extent[2] + own[2][0] + own[2][1];
    const std::int64_t volumes = geometry.extent[3] + own[3][0] + own[3][1];
    geometry.pitch = field.has(0) ? grid.pitch : 1;
    geometry.slice = geometry.pitch * rows;
    geometry.volume = geometry.slice * planes;
    const std::int64_t left = round_up(own[0][0], kAlignment);
    geometry.origin =
        left + own[1][0] * geometry.pitch + own[2][0] * geometry.slice + own[3][0] * geometry.volume;
    geometry.elements = left + volumes * geometry.volume + round_up(own[0][1], kAlignment);
    return geometry;
}

Extent domain_extent(const Domain& domain, const Geometry& geometry) {
    Extent extent = FieldGrid::coarse(domain.factor).extent(geometry.extent);
    for (int axis = 0; axis < geometry.rank; ++axis) {
        const std::int64_t n = extent[axis];
        const Range& range = domain.ranges[axis];
        extent[axis] = domain.kind == Domain::Kind::grid
                           ? span_of(range, n).cells()
                           : std::max<std::int64_t>(place_of(range.end, n) - place_of(range.begin, n), 0);
    }
    if (domain.kind == Domain::Kind::faces) {
        // Each thread has a line across one axis, and the other axes are as long as any that they may be.
        for (int axis = 0; axis + 1 < geometry.rank; ++axis)
            extent[axis] = std::max(extent[axis], extent[axis + 1]);
        extent[static_cast<std::size_t>(geometry.rank - 1)] = domain.index;
    }
    return extent;
}

std::array<std::int64_t, 3> blocks_of(const KernelPlan& kernel, const Geometry& geometry) {
    if (kernel.blocks > 0) return {kernel.blocks, 1, 1};
    const Extent extent = domain_extent(kernel.domain, geometry);
    const auto along = [&](std::size_t axis) {
        return (extent[axis] + kernel.tile[axis] - 1) / kernel.tile[axis];
    };
    return {along(0), along(1), along(2) * extent[3]};
}

}  // namespace halo::rt
