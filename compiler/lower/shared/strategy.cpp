#include "compiler/lower/shared/strategy.h"

#include "compiler/lower/shared/reduce.h"

namespace halo::lower {

using kernel::Expr;
using kernel::Type;

Expr named_constant(kernel::KernelFunction& function, const std::string& name, int value,
                    const std::string& comment) {
    if (value == 1) return 1;
    function.constants.push_back({name, value, comment});
    return kernel::variable(name, Type::i32);
}

Expr shifted(const Expr& at, int count, const Expr& stride) {
    if (count == 0) return at;
    const int steps = count < 0 ? -count : count;
    const Expr distance = steps == 1 ? stride : Expr(steps) * stride;
    return count < 0 ? at - distance : at + distance;
}

Expr declare_plane_blocks(const Expr& planes, int tile, kernel::Block& body) {
    if (tile == 1) return planes;
    body.push_back(kernel::Declare{Type::i32, "plane_blocks", (planes + (tile - 1)) / Expr(tile)});
    return kernel::variable("plane_blocks", Type::i32);
}

CellIndex declare_first_cell(Context& context, const schedule::Schedule& schedule, const CellIndex& cells,
                             kernel::KernelFunction& function, const CellIndex& begin,
                             std::optional<int> looped, const Expr& planes) {
    static constexpr const char* kThreadConstants[] = {"kThreadsX", "kThreadsY", "kThreadsZ"};
    CellIndex first;
    Expr plane_blocks;
    for (int axis = 0; axis < context.rank(); ++axis) {
        first[axis] = kernel::variable(Context::kIndexNames[axis], Type::i32);
        if (axis == looped) continue;
        if (axis == 3) {
            function.body.push_back(kernel::Declare{
                Type::i32, Context::kIndexNames[axis],
                kernel::block_index(2) / plane_blocks + (begin[axis].has_value() ? begin[axis] : Expr(0))});
            continue;
        }
        const Expr threads = named_constant(function, kThreadConstants[axis], schedule.threads[axis]);
        Expr block = kernel::block_index(axis);
        if (axis == 2 && context.rank() > 3) {
            plane_blocks = declare_plane_blocks(planes.has_value() ? planes : context.extent(2),
                                                schedule.tile(2), function.body);
            block = block % plane_blocks;
        }
        Expr index = block * threads;
        if (schedule.threads[axis] > 1) index = index + kernel::thread_index(axis);
        function.body.push_back(
            kernel::Declare{Type::i32, Context::kIndexNames[axis], index * cells[axis] + begin[axis]});
    }
    return first;
}

kernel::Statement sweep_loop(int axis, bool upwards, const Bounds& bounds, kernel::Block cell) {
    kernel::For loop;
    loop.var = Context::kIndexNames[axis];
    loop.begin = bounds.begin;
    loop.end = bounds.end;
    loop.body = std::move(cell);
    loop.downwards = !upwards;
    return loop;
}

void change_cell(Context& context, const CellSources& sources,
                 const std::function<Expr(const Level&)>& element,
                 const std::function<void(kernel::Block&)>& finish, kernel::Block& body) {
    const std::vector<Write>& writes = context.stage().writes;
    if (context.stage().shares_box()) {
        BoxCell cell = lower_in_box(context, sources, body);
        for (const Write& write : writes)
            cell.body.push_back(
                kernel::Assign{element(write.level), stored_value(context.stage(), write, cell.values)});
        reduce_cell(context, cell.values, Expr(), cell.body);
        finish(cell.body);
        if (!cell.inside.has_value()) return append(body, std::move(cell.body));
        body.push_back(kernel::If{cell.inside, std::move(cell.body), {}});
        return;
    }
    const auto store = [&](const Level& level, const Expr& value) {
        body.push_back(kernel::Assign{element(level), value});
    };
    if (writes.size() > 1 && lower_line_cell(context, sources, body, store)) return finish(body);
    for (const Write& write : writes) {
        kernel::Block change;
        InPlaceCell cell = lower_in_place(context, sources, *write.assign, change);
        cell.body.push_back(kernel::Assign{element(write.level), cell.value});
        if (writes.size() == 1) finish(cell.body);
        if (cell.inside.has_value()) {
            change.push_back(kernel::If{cell.inside, std::move(cell.body), {}});
        } else {
            append(change, std::move(cell.body));
        }
        if (writes.size() == 1) return append(body, std::move(change));
        body.push_back(kernel::Scope{std::move(change)});  // each has names of its own
    }
    finish(body);  // a cell that a statement leaves out is as it was, and so is what shows it
}

StoreBounds store_bounds(const StageView& stage, const Write& write, int axis) {
    // Only outputs keep the old value by storing nothing: a state stores it, and a let is not read there.
    if (stage.field(write.level).role != ir::Role::output) return {};
    return {write.assign->margins[axis][0], write.assign->margins[axis][1]};
}

Expr inside_store_bounds(Context& context, const Write& write, const CellIndex& cell) {
    Expr inside;
    for (int axis = 0; axis < context.rank(); ++axis) {
        const auto [low, high] = store_bounds(context.stage(), write, axis);
        if (low) inside = inside && cell[axis] >= low;
        if (high) inside = inside && cell[axis] < context.extent(axis) - high;
    }
    return inside;
}

Expr thread_along(const schedule::Schedule& schedule, int axis) {
    return schedule.threads[axis] > 1 ? kernel::thread_index(axis) : Expr(0);
}

Expr element_beside(Context& context, const Expr& at, const Level& level, const ir::Offset& shift) {
    Expr place = at;
    for (int axis = context.rank() - 1; axis > 0; --axis)
        if (shift[axis]) place = shifted(place, shift[axis], context.stride(axis));
    return context.element(level, place + shift[0]);
}

CellSources sources_at(Context& context, const CellIndex& index, const Expr& at) {
    CellSources sources;
    sources.index = index;
    sources.may_pass_high_face = {};
    sources.load = [&context, at](const Level& level, const ir::Offset& shift) {
        return loaded(element_beside(context, at, level, shift), context.stage().field(level));
    };
    return sources;
}

void store_cell(Context& context, const CellIndex& index, const Expr& at, const CellValues& values,
                kernel::Block& body) {
    const auto bounds_of = [&](const Write& write) {
        std::array<std::pair<int, int>, ir::kMaxRank> result;
        for (int axis = 0; axis < context.rank(); ++axis) {
            const auto [low, high] = store_bounds(context.stage(), write, axis);
            result[axis] = {low, high};
        }
        return result;
    };
    const std::vector<Write>& writes = context.stage().writes;
    for (std::size_t i = 0; i < writes.size();) {
        kernel::Block stores;
        const std::size_t first = i;
        for (; i < writes.size() && bounds_of(writes[i]) == bounds_of(writes[first]); ++i)
            stores.push_back(kernel::Assign{context.element(writes[i].level, at),
                                            stored_value(context.stage(), writes[i], values)});
        const Expr inside = inside_store_bounds(context, writes[first], index);
        if (inside.has_value()) stores = {kernel::If{inside, std::move(stores), {}}};
        append(body, std::move(stores));
    }
}

Expr declare_place(Context& context, const CellIndex& index, kernel::Block& body) {
    const Expr offset = context.element_offset(index);
    body.push_back(kernel::Declare{offset.type(), "at", offset});
    return kernel::variable("at", offset.type());
}

void append(kernel::Block& to, kernel::Block from) {
    for (kernel::Statement& statement : from)
        to.push_back(std::move(statement));
}

kernel::Block loop_over(const std::string& var, const Expr& count, kernel::Block body) {
    if (kernel::int_value(count) == 1) return body;
    return {kernel::For{var, 0, count, 1, kernel::Unroll::full, std::move(body)}};
}

}  // namespace halo::lower
