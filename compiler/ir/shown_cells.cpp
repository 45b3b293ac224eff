#include "compiler/ir/shown_cells.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

namespace halo::ir {

using rt::ImageMap;
using Shows = rt::ImageMap::Shows;

namespace {

// Of an expression that is a cell or its negative.
struct Shown {
    int inwards = 0;  // from the edge cell
    bool negates = false;
};

std::optional<Shown> shown_by(const Program& program, ExprId ghost, int axis, int side, int distance) {
    const Expr* expr = &program[ghost];
    const auto* negated = std::get_if<Unary>(&expr->node);
    if (negated != nullptr) {
        if (negated->op != UnaryOp::negate) return std::nullopt;
        expr = &program[negated->operand];
    }
    const auto* access = std::get_if<Access>(&expr->node);
    if (access == nullptr) return std::nullopt;
    const int offset = access->offset[static_cast<std::size_t>(axis)];
    return Shown{(side == 0 ? offset : -offset) - distance, negated != nullptr};
}

}  // namespace

ShownCells shown_cells(const Program& program, const Field& field, int axis, int side) {
    const ImageMap own = field.image(axis, side);
    const std::vector<ExprId>& ghosts = field.boundary[axis][side].ghosts;
    if (own.shows != Shows::formula || ghosts.empty()) return {own};
    const std::optional<Shown> first = shown_by(program, ghosts.front(), axis, side, 1);
    if (!first || first->inwards < 0 || first->inwards > 1) return {own};
    // A mirror, or one that stands at the face, between the first ghost and the edge cell.
    ImageMap map = rt::image_map(rt::BoundaryKind::mirror, side);
    if (first->inwards == 0) map.offset += side == 0 ? -1 : 1;
    for (std::size_t k = 0; k < ghosts.size(); ++k) {
        const int distance = static_cast<int>(k) + 1;
        const std::optional<Shown> shown = shown_by(program, ghosts[k], axis, side, distance);
        if (!shown || shown->inwards != map.inwards(distance) || shown->negates != first->negates)
            return {own};
    }
    return {map, first->negates};
}

bool stores_can_fill(const Program& program, const Field& field) {
    bool has_negated = false;  // along an axis before
    for (int axis = 0; axis < program.rank(); ++axis) {
        std::array<ShownCells, 2> shown;
        for (int side = 0; side < 2; ++side) {
            shown[side] = shown_cells(program, field, axis, side);
            if (field.halo[axis][side] == 0) continue;
            if (shown[side].map.shows == Shows::formula) return false;
            // Past both faces lies the negative of the value, which no store leaves there.
            if (has_negated && shown[side].map.shows_value()) return false;
        }
        for (int side = 0; side < 2; ++side)
            has_negated = has_negated || (shown[side].negates && field.halo[axis][side] > 0);
    }
    return true;
}

bool reads_own_images(const Program& program, const Field& field, const Offset& offset) {
    int steps = 0;
    for (const int step : offset)
        steps += std::abs(step);
    if (steps > 1) return false;
    for (int axis = 0; axis < program.rank(); ++axis) {
        const int step = offset[static_cast<std::size_t>(axis)];
        if (step == 0) continue;
        const ImageMap map = shown_cells(program, field, axis, step < 0 ? 0 : 1).map;
        if (map.shows == Shows::formula || map.wraps()) return false;
        if (map.shows_cell() && map.inwards(1) != 0) return false;
    }
    return true;
}

}  // namespace halo::ir
