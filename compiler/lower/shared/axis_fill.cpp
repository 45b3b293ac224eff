#include "compiler/lower/shared/axis_fill.h"

#include <algorithm>

#include "compiler/lower/shared/cell.h"
#include "compiler/lower/shared/images.h"
#include "compiler/lower/shared/storage.h"
#include "compiler/lower/shared/strategy.h"

namespace halo::lower {

using kernel::Block;
using kernel::Expr;
using kernel::Type;
using Shows = rt::ImageMap::Shows;

AxisFill::AxisFill(Context& context, const Level& level, int axis, const std::vector<int>& filled,
                   Machine machine)
    : context_(context),
      level_(level),
      field_(context.program()[level.field]),
      axis_(axis),
      machine_(machine) {
    for (int other = 0; other < context_.rank(); ++other) {
        index_[other] = kernel::variable(Context::kIndexNames[other], Type::i32);
        if (other == axis) continue;
        others_.push_back(other);
        if (std::ranges::find(filled, other) != filled.end()) widths_[other] = field_.halo[other];
    }
}

Block AxisFill::line() {
    Block line, cells;
    declare_edges(line);
    for (int side = 0; side < 2; ++side)
        for (int distance = 1; distance <= field_.halo[axis_][side]; ++distance)
            fill(side, distance, cells);
    if (!reads_last_) line.pop_back();  // compilers warn of a name that nothing uses
    std::ranges::move(cells, std::back_inserter(line));
    return line;
}

std::optional<kernel::DeclareLambda> AxisFill::function(const std::string& name) {
    kernel::DeclareLambda made{name, {}, read(index_[axis_]), {}};
    for (int axis = 0; axis < context_.rank(); ++axis)
        made.parameters.push_back({Context::kIndexNames[axis]});
    for (int side = 1; side >= 0; --side) {
        for (int distance = field_.halo[axis_][side]; distance >= 1; --distance) {
            Block before;
            const Expr ghost = shown(side, distance, before);
            if (!before.empty()) return std::nullopt;
            if (ghost.has_value())
                made.value = kernel::select(index_[axis_] == ghost_index(side, distance), ghost, made.value);
        }
    }
    return made;
}

// ---- places

// Declares the places of the line's first and last cells; the last statement is that of the last cell.
void AxisFill::declare_edges(Block& line) {
    const auto declare = [&](const char* name, const Expr& value) {
        line.push_back(kernel::Declare{value.type(), name, value});
        return kernel::variable(name, value.type());
    };
    const Expr length = axis_ == 0   ? extent() - 1
                        : axis_ == 1 ? kernel::convert(extent() - 1, Type::i64) * stride()
                                     : (extent() - 1) * stride();
    CellIndex at = index_;
    at[axis_] = Expr();
    const Expr start = context_.element_offset(at);
    edge_[0] = start.has_value() ? declare("first", start) : Expr(0);
    edge_[1] = declare("last", edge_[0] + length);
}

Expr AxisFill::ghost_index(int side, int distance) const {
    return side == 0 ? Expr(-distance) : extent() + (distance - 1);
}

// The number along the axis of the cell that a periodic face shows.
Expr AxisFill::period_number(int side, int distance) const {
    const Expr number =
        distance == 1 ? 0 : Expr(distance - 1) % extent();  // the halo may be wider than the grid
    return side == 0 ? extent() - 1 - number : number;
}

// Whether a reflection may pass the other face and be reflected again. Where that face has a formula,
// Face::reach keeps it within the domain.
bool AxisFill::may_leave(int side) const {
    return field_.image(axis_, side).reflects() && field_.image(axis_, 1 - side).shows != Shows::formula;
}

Expr AxisFill::face_source(int side, int distance) const {
    return kernel::call_helper(kernel::Helper::face_source,
                               {ghost_index(side, distance), extent(), face_constant(field_.image(axis_, 0)),
                                face_constant(field_.image(axis_, 1))});
}

// As it is stored.
Expr AxisFill::fixed_value(int side) const {
    return stored(context_.scalar(field_.boundary[axis_][side].value, kernel_type(field_.type)), field_);
}

// ---- cells of the line

// The cell `number` inside the face (0 is the edge cell, -1 the first ghost).
Expr AxisFill::cell_inside(int side, int number) {
    reads_last_ = reads_last_ || side == 1;
    const int steps = side == 0 ? number : -number;
    return cell(axis_ == 0 ? edge_[side] + steps : shifted(edge_[side], steps, stride()));
}

// The cell `number` along the axis, counted from the first; it may be any number of cells past the last.
Expr AxisFill::cell_counted(const Expr& number) {
    return cell(edge_[0] + (axis_ == 1 ? kernel::convert(number, Type::i64) * stride() : number * stride()));
}

// The value of that cell, by the function.
Expr AxisFill::read(const Expr& number) const {
    std::vector<Expr> at(index_.begin(), index_.begin() + context_.rank());
    at[static_cast<std::size_t>(axis_)] = number;
    return kernel::call_lambda(read_by_, std::move(at), kernel_type(field_.type));
}

Expr AxisFill::value_inside(int side, int number) {
    if (read_by_.empty()) return loaded(cell_inside(side, number), field_);
    return read(side == 0 ? Expr(number) : extent() - (1 + number));
}

// The same as they are stored.
Expr AxisFill::stored_inside(int side, int number) {
    return read_by_.empty() ? cell_inside(side, number) : stored(value_inside(side, number), field_);
}
Expr AxisFill::stored_counted(const Expr& number) {
    return read_by_.empty() ? cell_counted(number) : stored(read(number), field_);
}

// ---- what ghosts show

// As it is stored.
Expr AxisFill::formula(int side, int distance, Block& body) {
    CellSources sources;
    sources.coefs_as_parameters = machine_ == Machine::cpu;
    sources.index = index_;
    sources.index[axis_] = ghost_index(side, distance);
    sources.load = [&](const Level&, const ir::Offset& offset) {
        return value_inside(side, (side == 0 ? offset[axis_] : -offset[axis_]) - distance);
    };
    const ir::ExprId root = field_.boundary[axis_][side].ghosts[static_cast<std::size_t>(distance - 1)];
    return stored(lower_values(context_, sources, {root}, body).front(), field_);
}

void AxisFill::store(int side, int distance, const Expr& value, Block& body) {
    body.push_back(kernel::Assign{cell_inside(side, -distance), value});
}

void AxisFill::fill(int side, int distance, Block& body) {
    const rt::ImageMap map = field_.image(axis_, side);
    switch (map.shows) {
        case Shows::cell:
            if (map.wraps())
                return store(side, distance,
                             distance == 1 ? stored_inside(1 - side, 0)
                                           : stored_counted(period_number(side, distance)),
                             body);
            if (may_leave(side)) return fill_mirror(side, distance, body);
            return store(side, distance, stored_inside(side, map.inwards(distance)), body);
        case Shows::value:
            return store(side, distance, fixed_value(side), body);
        case Shows::formula: {
            Block scope;
            const Expr value = formula(side, distance, scope);
            const bool has_names = !scope.empty();
            store(side, distance, value, scope);
            if (has_names) {
                body.push_back(kernel::Scope{std::move(scope)});
            } else {
                std::ranges::move(scope, std::back_inserter(body));
            }
            return;
        }
        case Shows::nothing:
            return;
    }
}

void AxisFill::fill_mirror(int side, int distance, Block& body) {
    Block scope;
    scope.push_back(kernel::Declare{Type::i32, "source", face_source(side, distance)});
    const Expr source = kernel::variable("source", Type::i32);
    Block image, value;
    store(side, distance, stored_counted(source), image);
    if (field_.image(axis_, 1 - side).shows_value()) store(side, distance, fixed_value(1 - side), value);
    scope.push_back(kernel::If{source >= 0, std::move(image), std::move(value)});
    body.push_back(kernel::Scope{std::move(scope)});
}

// The value that a load of the ghost would give; empty where nothing is shown.
Expr AxisFill::shown(int side, int distance, Block& body) {
    const rt::ImageMap map = field_.image(axis_, side);
    switch (map.shows) {
        case Shows::cell:
            if (map.wraps()) return read(period_number(side, distance));
            if (may_leave(side)) {
                const Expr source = face_source(side, distance);
                if (!field_.image(axis_, 1 - side).shows_value()) return read(source);
                return kernel::select(source >= 0, read(source), loaded(fixed_value(1 - side), field_));
            }
            return value_inside(side, map.inwards(distance));
        case Shows::value:
            return loaded(fixed_value(side), field_);
        case Shows::formula:
            return loaded(formula(side, distance, body), field_);
        case Shows::nothing:
            break;
    }
    return {};
}

}  // namespace halo::lower
