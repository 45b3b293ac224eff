#include "compiler/ir/shifted.h"

namespace halo::ir {

namespace {

// Identifies a node's operation, without its operands.
std::int64_t kind_of(const Expr& expr) {
    if (const auto* unary = std::get_if<Unary>(&expr.node)) return static_cast<std::int64_t>(unary->op);
    if (const auto* binary = std::get_if<Binary>(&expr.node)) return static_cast<std::int64_t>(binary->op);
    if (const auto* sum = std::get_if<TableSum>(&expr.node)) return sum->table.index;
    if (const auto* call = std::get_if<Call>(&expr.node))
        return 2 * static_cast<std::int64_t>(call->function) + (call->fast ? 1 : 0);
    return 0;
}

bool depends_on_cell(const Expr& expr) {
    if (const auto* coordinate = std::get_if<Coordinate>(&expr.node))
        return coordinate->kind == CoordinateKind::index || coordinate->kind == CoordinateKind::position;
    return std::holds_alternative<Noise>(expr.node);
}

}  // namespace

const ShiftedShapes::Place& ShiftedShapes::of(ExprId id) {
    while (places_.size() <= id.index)  // operands come before their users
        places_.push_back(place({static_cast<std::uint32_t>(places_.size())}));
    return places_[id.index];
}

ShiftedShapes::Place ShiftedShapes::place(ExprId id) {
    const Expr& expr = program_[id];
    Place result;
    std::vector<std::int64_t> key{static_cast<std::int64_t>(expr.node.index())};
    if (const auto* access = std::get_if<Access>(&expr.node)) {
        result.is_everywhere = false;
        key.insert(key.end(), {access->field.index, access->time});
        if (access->is_mapped()) {  // of another grid: a shift there is none here
            for (std::size_t axis = 0; axis < access->map.size(); ++axis)
                key.insert(key.end(),
                           {access->map[axis].times, access->map[axis].over, access->offset[axis]});
        } else {
            result.offset = access->offset;
        }
    } else {
        result.is_everywhere = !depends_on_cell(expr);
        key.insert(key.end(), {static_cast<std::int64_t>(expr.type), kind_of(expr)});
        for_each_operand(expr, [&](ExprId operand) {
            const Place& part = places_[operand.index];
            if (result.is_everywhere && !part.is_everywhere) {
                result.is_everywhere = false;
                result.offset = part.offset;
            }
            key.push_back(part.shape);
            for (int axis = 0; axis < kMaxRank && !part.is_everywhere; ++axis)
                key.push_back(part.offset[axis] - result.offset[axis]);
        });
        // Leaves and expressions without offsets: equal nodes are one already.
        if (result.is_everywhere || key.size() == 3) key = {-1, id.index};
    }
    result.shape = shapes_.emplace(std::move(key), static_cast<std::uint32_t>(shapes_.size())).first->second;
    return result;
}

}  // namespace halo::ir
