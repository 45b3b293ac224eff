#include "compiler/ir/grids.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace halo::ir {

namespace {

constexpr int rounded_down(int a, int b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

}  // namespace

int grid_factor(const Program& program, const Statement& statement) {
    if (const auto* assign = std::get_if<Assign>(&statement)) return program[assign->target].grid.factor;
    if (const auto* reduce = std::get_if<Reduce>(&statement)) return reduce->factor;
    if (const auto* inject = std::get_if<Inject>(&statement)) return program[inject->target].grid.factor;
    return 1;
}

bool has_coarse_grids(const Program& program) {
    return std::ranges::any_of(program.fields, [](const Field& field) { return field.grid.factor != 1; });
}

std::int64_t common_cells(const Program& program) {
    std::int64_t cells = 1;
    for (const Field& field : program.fields)
        cells = std::lcm(cells, std::int64_t{field.grid.factor});
    for (const Statement& statement : program.statements)
        cells = std::lcm(cells, std::int64_t{grid_factor(program, statement)});
    return cells;
}

std::optional<AxisMap> map_between(int statement_factor, int field_factor) {
    if (statement_factor % field_factor == 0) return AxisMap{statement_factor / field_factor, 1};
    if (field_factor % statement_factor == 0) return AxisMap{1, field_factor / statement_factor};
    return std::nullopt;
}

std::optional<GridMap> map_of_reads(const Program& program, int statement_factor, const Field& field) {
    const std::optional<AxisMap> along = map_between(statement_factor, field.grid.factor);
    if (!along) return std::nullopt;
    GridMap map{};
    for (int axis = 0; axis < program.rank(); ++axis)
        if (field.grid.has(axis)) map[static_cast<std::size_t>(axis)] = *along;
    return map;
}

std::optional<AxisPlace> composed(const AxisPlace& read, const AxisPlace& from) {
    const auto [outer, outer_offset] = read;
    const auto [inner, inner_offset] = from;
    // (a * ((b*i + p) / q) + o) / m
    if (inner.over > 1) {
        if (outer.times > 1) return std::nullopt;
        return AxisPlace{{1, inner.over * outer.over}, inner_offset + inner.over * outer_offset};
    }
    const int times = outer.times * inner.times, offset = outer.times * inner_offset + outer_offset;
    if (times % outer.over == 0) return AxisPlace{{times / outer.over, 1}, rounded_down(offset, outer.over)};
    if (outer.over % times == 0) return AxisPlace{{1, outer.over / times}, rounded_down(offset, times)};
    return std::nullopt;
}

void check_grid(const Program& program, const rt::Extent& extent) {
    rt::check_extents(program.rank(), extent);
    std::vector<std::string> axes;
    for (const Axis& axis : program.axes)
        axes.push_back(axis.name);
    std::vector<rt::CellsNeeded> needs;
    std::vector<rt::CoarseGrid> coarse;
    for (const Field& field : program.fields) {
        coarse.push_back({field.name, field.grid.factor, {}});
        for (int axis = 0; axis < program.rank(); ++axis) {
            coarse.back().is_periodic[static_cast<std::size_t>(axis)] =
                field.boundary[axis][0].kind == BoundaryKind::periodic;
            for (int side = 0; side < 2; ++side)
                needs.push_back(
                    {field.name, axis, side, field.boundary[axis][side].reach, field.grid.factor});
        }
    }
    rt::check_coarse_grids(axes, coarse, extent);
    rt::check_cells_needed(axes, needs, extent);
}

std::array<int, 2> past_faces(const Access& access, int axis) {
    const auto along = static_cast<std::size_t>(axis);
    const int offset = access.offset[along];
    const auto [times, over] = access.map[along];
    // A grid so many times finer has up to times - 1 cells more at its high face, and one that is `over`
    // times coarser ends up to over - 1 cells before the high face of the other.
    const int low = over > 1 ? -rounded_down(offset, over) : -offset;
    const int high = over > 1 ? 1 + rounded_down(over - 2 + offset, over) : offset - (times - 1);
    return {std::max(low, 0), std::max(high, 0)};
}

}  // namespace halo::ir
