#include "compiler/lower/strategy.h"

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

std::array<Expr, 3> declare_first_cell(Context& context, const schedule::Schedule& schedule,
                                       const std::array<Expr, 3>& cells, kernel::KernelFunction& function,
                                       const std::array<Expr, 3>& begin) {
    static constexpr const char* kThreadConstants[] = {"kThreadsX", "kThreadsY", "kThreadsZ"};
    std::array<Expr, 3> first;
    for (int axis = 0; axis < context.rank(); ++axis) {
        const Expr threads = named_constant(function, kThreadConstants[axis], schedule.threads[axis]);
        Expr index = kernel::block_index(axis) * threads;
        if (schedule.threads[axis] > 1) index = index + kernel::thread_index(axis);
        function.body.push_back(
            kernel::Declare{Type::i32, Context::kIndexNames[axis], index * cells[axis] + begin[axis]});
        first[axis] = kernel::variable(Context::kIndexNames[axis], Type::i32);
    }
    return first;
}

StoreBounds store_bounds(const Context& context, const Write& write, int axis) {
    // Only outputs keep by not storing: a state stores its old value, and nobody reads a let there.
    if (context.stage().field(write.level).role != ir::Role::output) return {};
    return {write.assign->margins[axis][0], write.assign->margins[axis][1]};
}

Expr inside_store_bounds(Context& context, const Write& write, const std::array<Expr, 3>& cell) {
    Expr inside;
    for (int axis = 0; axis < context.rank(); ++axis) {
        const auto [low, high] = store_bounds(context, write, axis);
        if (low) inside = inside && cell[axis] >= low;
        if (high) inside = inside && cell[axis] < context.extent(axis) - high;
    }
    return inside;
}

void append(kernel::Block& to, kernel::Block from) {
    for (kernel::Statement& statement : from)
        to.push_back(std::move(statement));
}

kernel::Block loop_over(const std::string& var, const Expr& count, kernel::Block body) {
    const std::int64_t* literal = kernel::int_value(count);
    if (literal && *literal == 1) return body;
    return {kernel::For{var, 0, count, 1, kernel::Unroll::full, std::move(body)}};
}

}  // namespace halo::lower
