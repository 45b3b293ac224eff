#include "compiler/lower/shared/cell_place.h"

#include <vector>

namespace halo::lower {

using kernel::Expr;
using kernel::Type;

namespace {

Expr grid_index(Context& context, const CellIndex& index, int axis) {
    const Expr& own = index[static_cast<std::size_t>(axis)];
    const auto& along = context.program().window.axes[axis];
    if (!along) return own;
    // The window is in cells of the program's own grid, and begins between cells of all grids.
    const auto cells = [&](ir::ParamId param) {
        const Expr of_own_grid = context.param(param, Type::i32);
        const int factor = context.stage().factor;
        return factor == 1 ? of_own_grid : of_own_grid / Expr(factor);
    };
    const Expr moved = own + cells(along->first);
    if (!along->wraps) return moved;
    const Expr length = cells(along->length);
    return kernel::select(moved < 0, moved + length, kernel::select(moved < length, moved, moved - length));
}

bool equals(const ir::Program& program, ir::ExprId id, int number) {
    const auto* constant = std::get_if<ir::Constant>(&program[id].node);
    return constant && constant->value == Rational(number);
}

}  // namespace

Expr coordinate_of(Context& context, const ir::Coordinate& coordinate, const CellIndex& index, Type type) {
    const Expr on_grid = kernel::convert(grid_index(context, index, coordinate.axis), type);
    if (coordinate.kind == ir::CoordinateKind::index) return on_grid;
    const ir::Axis& axis = context.program().axes[coordinate.axis];
    Expr position = on_grid;
    if (!equals(context.program(), axis.spacing, 1)) position = position * context.scalar(axis.spacing, type);
    if (!equals(context.program(), axis.origin, 0)) position = position + context.scalar(axis.origin, type);
    return position;
}

Expr noise_of(Context& context, const ir::Noise& noise, const CellIndex& index, Type type) {
    using kernel::Helper;
    const auto draw = [&](Helper of_floats, Helper of_doubles) {
        std::vector<Expr> arguments;
        for (int axis = 0; axis < 3; ++axis)  // a stencil of four axes has no noise
            arguments.push_back(axis < context.program().rank() ? grid_index(context, index, axis) : Expr(0));
        arguments.insert(arguments.end(), {Expr(noise.stream), context.step(), context.seed()});
        return kernel::call_helper(type == Type::f32 ? of_floats : of_doubles, std::move(arguments));
    };
    if (noise.kind == ir::NoiseKind::uniform) return draw(Helper::random_f32, Helper::random_f64);
    return draw(Helper::random_normal_f32, Helper::random_normal_f64);
}

Expr cell_read(const Expr& at, const ir::AxisMap& map, int offset) {
    if (map.over == 1) return (map.times == 1 ? at : at * map.times) + offset;
    const int below = std::max(0, (map.over - 1 - offset) / map.over);
    const Expr cell = (at + (offset + below * map.over)) / Expr(map.over);
    return cell - below;
}

}  // namespace halo::lower
