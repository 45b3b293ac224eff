// How every array of a program lies in memory. All arrays of one run share one geometry, counted in elements,
// so one index reaches the same cell in each.
//
//   row:   [ pad: multiple of 32 elements, halo at its right end | nx cells | halo, rounded up to 32 ]
//   array: rows `pitch` apart, planes `slice` apart, volumes (of a fourth axis) `volume` apart, with halo
//   rows,
//          planes and volumes before and after
//
// The first cell of every row is aligned to 32 elements (128 bytes for f32), so vector loads of interior
// cells are aligned, and a row's last vector may run past nx inside the pad without leaving the array.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/core/launch_plan.h"

namespace halo::rt {

// Tight rows, for machines that load vectors from anywhere and fetch ahead along memory (CPUs: gaps between
// rows halve their speed), have one gap between each other, which holds the right halo of the one and the
// left halo of the next:
//
//   row:   [ nx cells | right halo, unused, left halo of the next row: to a multiple of 8 elements ]
enum class RowLayout : std::uint8_t { padded, tight };

struct Geometry {
    int rank = 1;
    Extent extent{};
    std::int64_t pitch = 0;     // elements between rows
    std::int64_t slice = 0;     // elements between planes
    std::int64_t volume = 0;    // elements between volumes, a multiple of `slice`
    std::int64_t origin = 0;    // element of cell 0
    std::int64_t elements = 0;  // whole array
    RowLayout layout = RowLayout::padded;

    std::array<std::int64_t, kMaxRank> strides() const { return {1, pitch, slice, volume}; }
    // From the first element of the array.
    std::int64_t element_of(const std::array<std::int64_t, kMaxRank>& cell) const {
        return origin + cell[0] + cell[1] * pitch + cell[2] * slice + cell[3] * volume;
    }
};

// Throws Error (error.h) where a row or the whole array is too large to index.
Geometry make_geometry(int rank, const Extent& extent, const std::array<std::array<int, 2>, kMaxRank>& halo,
                       RowLayout layout = RowLayout::padded);

// That of arrays whose rows and planes are so many elements apart, with as little room around the cells as
// the halos need: what lies before `origin` and past `elements` need not be there. Throws Error
// (bad_argument) that says what pitch and slice must be. Without a third axis the slice is ignored. Volumes
// lie as close as their planes and halos let them.
Geometry view_geometry(int rank, const Extent& extent, const std::array<std::array<int, 2>, kMaxRank>& halo,
                       RowLayout layout, std::int64_t pitch, std::int64_t slice);

// That of the arrays of a grid so much coarser (FieldGrid::factor) than the one whose arrays lie as `grid`
// says.
Geometry geometry_of_grid(int factor, const Geometry& grid,
                          const std::array<std::array<int, 2>, kMaxRank>& halo);

// That of the array of a field, among arrays that lie as `grid` says: of a coarser grid, or over fewer axes.
// Along an axis that the field has not there is one cell without a halo. Rows are as far apart as those of
// the others; without the first axis they are one element each, so that the cells along the next one lie side
// by side. halo: that of the layout (LaunchPlan::halo).
Geometry geometry_of_field(const FieldGrid& field, const Geometry& grid,
                           const std::array<std::array<int, 2>, kMaxRank>& halo);

// The cells that a domain has of its grid, along each axis; of a shell those around it, too, and of faces
// what Domain says. geometry: of the program's own grid.
Extent domain_extent(const Domain& domain, const Geometry& geometry);

// The blocks of a kernel along x, y and z (KernelPlan::tile). Those along z count the planes of tiles of all
// volumes, one volume after the other.
std::array<std::int64_t, 3> blocks_of(const KernelPlan& kernel, const Geometry& geometry);

// Calls work(geometry of one volume) for each cell of the fourth axis, and with the number of the dense
// array's elements before it: of operations on cells along three axes.
template <class Work>
void for_volumes(const Geometry& cells, const Work& work) {
    Geometry one = cells;
    one.extent[3] = 1;
    for (std::int64_t w = 0; w < cells.extent[3]; ++w) {
        one.origin = cells.origin + w * cells.volume;
        work(one, w * one.extent.cells());
    }
}

// Where a level lies, in one with the components beside it.
struct LevelArray {
    void* array = nullptr;     // its first element
    std::int64_t element = 0;  // bytes of a cell
    int factor = 1;            // of its grid (FieldGrid::factor)
};

// What the address of cell (0,0,0) is a multiple of, in elements.
constexpr std::int64_t cell_alignment(RowLayout layout) {
    return layout == RowLayout::padded ? 32 : 1;
}

}  // namespace halo::rt
