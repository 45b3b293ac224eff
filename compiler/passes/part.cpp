#include "compiler/passes/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "compiler/ir/analysis.h"
#include "compiler/ir/grids.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/reach.h"
#include "compiler/ir/sweeps.h"

namespace halo::passes {

namespace {

using ir::Region;

bool is_read_past(const ir::Field& field, int axis) {
    const auto& [low, high] = field.halo[static_cast<std::size_t>(axis)];
    return low > 0 || high > 0;
}

bool wraps_along(const ir::Field& field, int axis) {
    return field.image(axis, 0).wraps() && field.image(axis, 1).wraps();
}

// Calls visit(region, margins) for a statement that has them.
template <class Visit>
void visit_bounds(const ir::Statement& statement, Visit&& visit) {
    std::visit(
        [&](const auto& node) {
            if constexpr (requires { node.region; }) visit(node.region, node.margins);
        },
        statement);
}

bool has_part_along(const ir::Program& program, int axis) {
    bool found = false;
    const auto along = static_cast<std::size_t>(axis);
    for (const ir::Statement& statement : program.statements)
        visit_bounds(statement, [&](const Region& region, const ir::Margins& margins) {
            found = found || region.ranges[along] != Region::Range{} || margins[along][0] > 0 ||
                    margins[along][1] > 0;
        });
    return found;
}

// Whether a statement that changes a field in place reads that field across the seam of the axis. Such a read
// sees the value from before the statement, which a part that goes on past the seam does not keep.
bool reads_own_across(const ir::Program& program, int axis) {
    const std::vector<bool> in_place = ir::in_place_statements(program);
    ir::ReachWalk walk(program);
    for (std::size_t i = 0; i < in_place.size(); ++i) {
        const auto* assign = std::get_if<ir::Assign>(&program.statements[i]);
        if (!in_place[i] || assign == nullptr) continue;
        for (const std::uint32_t index : walk.from(ir::roots_of(program.statements[i]))) {
            const auto* access = std::get_if<ir::Access>(&program.exprs[index].node);
            if (access != nullptr && access->field == assign->target && access->time == assign->time &&
                access->offset[static_cast<std::size_t>(axis)] != 0)
                return true;
        }
    }
    return false;
}

std::string free_param_name(const ir::Program& program, std::string wanted) {
    const auto is_taken = [&](const auto& item) { return item.name == wanted; };
    while (std::any_of(program.params.begin(), program.params.end(), is_taken) ||
           std::any_of(program.fields.begin(), program.fields.end(), is_taken))
        wanted += '_';
    return wanted;
}

ir::ParamId add_param(ir::Program& program, const std::string& wanted, std::int64_t value) {
    ir::Param param;
    param.name = free_param_name(program, wanted);
    param.default_value = static_cast<double>(value);
    param.largest = rt::kMaxExtent;
    param.least = -rt::kMaxExtent;
    program.params.push_back(std::move(param));
    return {static_cast<std::uint32_t>(program.params.size() - 1)};
}

// Where a bound lies, counted from the part's first cell.
std::int64_t place_of(const Region::Bound& bound, std::int64_t whole, std::int64_t first) {
    return rt::place_of(bound, whole) - first;
}

// Clips a range to the part and counts it from the part's own faces. keeps: cells that the statement's
// margins leave out keep what they held, as where the statement is for a part of the grid. So the range stays
// one. part: in cells of the statement's grid.
Region::Range range_of_part(const Region::Range& range, const Part& part, std::size_t axis, bool keeps) {
    const std::int64_t extent = part.extent[axis];
    const bool has_low = part.first[axis] == 0;
    const bool has_high = part.first[axis] + extent == part.whole[axis];
    const auto moved = [&](const Region::Bound& bound, std::int64_t at) -> Region::Bound {
        if (bound.from_high ? has_high : has_low) return bound;
        return {false, static_cast<int>(std::clamp<std::int64_t>(at, 0, extent))};
    };
    const std::int64_t begin = place_of(range.begin, part.whole[axis], part.first[axis]);
    const std::int64_t end = place_of(range.end, part.whole[axis], part.first[axis]);
    if (end <= begin || end <= 0 || begin >= extent) return {{false, 0}, {false, 0}};
    Region::Range result{moved(range.begin, begin), moved(range.end, end)};
    if (begin <= 0 && !has_low) result.begin = {false, 0};
    if (end >= extent && !has_high)
        result.end = keeps ? Region::Bound{false, static_cast<int>(extent)} : Region::Bound{true, 0};
    return result;
}

// In cells of a grid that is so much coarser, of which no cell lies in two parts.
Part on_grid(Part part, int factor) {
    for (std::size_t axis = 0; axis < part.cut.size(); ++axis) {
        if (!part.cut[axis]) continue;
        part.whole[axis] /= factor;
        part.first[axis] /= factor;
        part.extent[axis] /= factor;
    }
    return part;
}

}  // namespace

bool is_periodic(const ir::Program& program, int axis) {
    return std::any_of(program.fields.begin(), program.fields.end(), [&](const ir::Field& field) {
        return is_read_past(field, axis) && wraps_along(field, axis);
    });
}

std::string why_uncut(const ir::Program& program, int axis) {
    for (const ir::Statement& statement : program.statements) {
        const ir::LineSweep* const sweep = ir::sweep_of(statement);
        if (sweep != nullptr && sweep->goes_along(axis))
            return fmt::format("a sweep goes along {}, cell after cell",
                               program.axes[static_cast<std::size_t>(axis)].name);
    }
    if (!is_periodic(program, axis)) return {};
    for (const ir::Field& field : program.fields)
        if (is_read_past(field, axis) && !wraps_along(field, axis))
            return fmt::format("`{}` is not periodic along {}, but others are", field.name,
                               program.axes[static_cast<std::size_t>(axis)].name);
    if (has_part_along(program, axis))
        return fmt::format("a statement is for a part of {} alone, which is periodic",
                           program.axes[static_cast<std::size_t>(axis)].name);
    if (reads_own_across(program, axis))
        return fmt::format("a statement reads what it changes past the ends of {}, which is periodic",
                           program.axes[static_cast<std::size_t>(axis)].name);
    return {};
}

ir::Program program_of_part(ir::Program program, const Part& part) {
    const bool is_cut = std::ranges::any_of(part.cut, [](bool along) { return along; });
    if (is_cut) program = ir::with_exchanges(std::move(program));  // of all statements: alike in all parts
    for (int axis = 0; axis < program.rank(); ++axis) {
        const auto along = static_cast<std::size_t>(axis);
        if (!part.cut[along]) continue;
        const std::string& name = program.axes[along].name;
        const bool wraps = is_periodic(program, axis);
        const ir::ParamId first = add_param(program, name + "_first", part.first[along]);
        const ir::ParamId length = add_param(program, name + "_length", part.whole[along]);
        program.window.axes[along] = ir::Window::Along{first, length, wraps};
        if (wraps) continue;
        for (ir::Statement& statement : program.statements) {
            const Part own = on_grid(part, ir::grid_factor(program, statement));
            std::visit(
                [&](auto& node) {
                    if constexpr (requires { node.region; })
                        node.region.ranges[along] =
                            range_of_part(node.region.ranges[along], own, along,
                                          node.margins != ir::Margins{} && !node.region.is_whole());
                },
                statement);
        }
    }
    return program;
}

}  // namespace halo::passes
