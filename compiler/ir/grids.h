// Programs of several grids: on which one a statement computes, and which cells of another one it reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/ir/program.h"

namespace halo::ir {

// The factor of the grid (rt::FieldGrid::factor) whose cells a statement is for.
int grid_factor(const Program& program, const Statement& statement);

// Whether some field lies on a coarser grid; then the program is computed by single steps of the direct
// strategy.
bool has_coarse_grids(const Program& program);
// Cells of all grids begin at multiples of so many of the program's own: the least of them.
std::int64_t common_cells(const Program& program);
// The reason that other ways of computing a program give where it has.
inline constexpr const char* kSeveralGrids = "its fields lie on several grids";

// What a statement of one grid reads of a field on another along an axis: which cell, but for the offset.
// Nothing where neither factor is a multiple of the other.
std::optional<AxisMap> map_between(int statement_factor, int field_factor);

// The map of the accesses by which a statement of that grid may read a field: along the axes that this has.
std::optional<GridMap> map_of_reads(const Program& program, int statement_factor, const Field& field);

// Which cell is read: (times * i + offset) / over, rounded down.
struct AxisPlace {
    AxisMap map;
    int offset = 0;
    friend bool operator==(const AxisPlace&, const AxisPlace&) = default;
};
// What `read` reads where its cell i is in turn the one that `from` says. Nothing where that is no such
// place: a finer cell that was found by rounding down.
std::optional<AxisPlace> composed(const AxisPlace& read, const AxisPlace& from);

// Throws rt::Error where runtime/core/grid_rules.h refuses the grid; extents past the rank are 1.
void check_grid(const Program& program, const rt::Extent& extent);

// How many cells past the low and the high face an access may read along an axis, on any grid.
std::array<int, 2> past_faces(const Access& access, int axis);

}  // namespace halo::ir
