// Reductions in a temporal kernel: each step's cells are taken in once, by the tile that they come out of and
// in planes of the worker's own share. A thread has a result for each step from its first tile to its last.
#include "compiler/lower/shared/reduce.h"
#include "compiler/lower/temporal/stage.h"

namespace halo::lower {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

RegisterArray TemporalStages::of_thread(const ir::Reduce& reduce) const {
    const Context& context = frame_.context;
    const bool is_narrow = schedule::words_of_reduction(context.program(), reduce) == 1;
    return RegisterArray(frame_.context.local(reduce.name + "_of_thread"), is_narrow ? Type::f32 : Type::f64,
                         {frame_.steps});
}

void TemporalStages::begin_reductions(Block& body) {
    const auto& reductions = frame_.context.stage().reductions;
    if (reductions.empty()) return;
    body.push_back(kernel::Comment{"What a thread's cells come to, by step."});
    Block none;
    for (const ir::Reduce* reduce : reductions) {
        const RegisterArray array = of_thread(*reduce);
        const bool is_zero = reduce->op == ir::ReduceOp::sum;
        body.push_back(array.declaration(is_zero));
        if (is_zero) continue;
        none.push_back(
            kernel::Assign{array.at({step()}), kernel::real_literal(identity(reduce->op), array.type())});
    }
    if (!none.empty()) append(body, loop_over("s", frame_.k_steps, std::move(none)));
}

// A row of cells is taken in at once, and kept where it counts: a branch would come between the exchanges of
// neighbours.
Block TemporalStages::reduced_rows(const CellValues& values, const std::string& stage_name, const Expr& plane,
                                   Block cell) {
    Context& context = frame_.context;
    const auto& reductions = context.stage().reductions;
    const auto closed = [this](Block cells) {
        // The names of one cell's values are its own.
        if (frame_.values_x * frame_.cells_y == 1) cells = {kernel::Scope{std::move(cells)}};
        return cells;
    };
    if (reductions.empty()) return frame_.over_cells(closed(std::move(cell)));
    Block body, before, after;
    const std::string counts = context.names().take(stage_name + "_counts");
    body.push_back(
        kernel::Declare{Type::boolean, counts, plane >= frame_.out_begin && plane < frame_.out_end});
    Expr row_counts = kernel::variable(counts, Type::boolean);
    Expr columns = kernel::variable("own_columns", Type::boolean), column;
    if (frame_.values_x > 1) {  // at a side they may be in part
        const Expr i = frame_.i + frame_.x();
        column = kernel::logical_not(frame_.near_side) || (i >= frame_.in_begin[0] && i < frame_.in_end[0]);
        columns = frame_.near_side || columns;
    }
    row_counts = row_counts && columns;
    if (frame_.two_rows) {
        const Expr j = frame_.j + frame_.y();
        row_counts = row_counts && j >= frame_.in_begin[1] && j < frame_.in_end[1];
    }
    for (std::size_t r = 0; r < reductions.size(); ++r) {
        const ir::ReduceOp op = reductions[r]->op;
        const Expr so_far = of_thread(*reductions[r]).at({step()});
        const Type type = so_far.type();
        const std::string name = context.names().take(reductions[r]->name + "_of_row");
        const Expr of_row = kernel::variable(name, type);
        context.note(reductions[r]->where, before);
        before.push_back(kernel::Declare{type, name, so_far, true});
        Expr value = kernel::convert(values.reduced[r], type);
        if (const Expr counted = column && values.counted[r])
            value = kernel::select(counted, value, kernel::real_literal(identity(op), type));
        cell.push_back(kernel::Assign{of_row, combined(op, of_row, value)});
        after.push_back(kernel::Assign{so_far, kernel::select(row_counts, of_row, so_far)});
    }
    append(before, loop_over("x", frame_.k_values_x, closed(std::move(cell))));
    append(before, std::move(after));
    append(body, loop_over("y", frame_.k_cells_y, std::move(before)));
    return body;
}

void TemporalStages::finish_reductions(Block& body) {
    Context& context = frame_.context;
    const auto& reductions = context.stage().reductions;
    if (reductions.empty()) return;
    body.push_back(kernel::BlankLine{});
    body.push_back(kernel::Comment{
        "One partial result a step and block; those of a step are combined in the blocks' order."});
    const Expr place =
        step() * kernel::builtin(kernel::Builtin::blocks_x) + kernel::builtin(kernel::Builtin::block_x);
    Block of_step;
    for (std::size_t r = 0; r < reductions.size(); ++r) {
        const std::string name = context.local(reductions[r]->name + "_of_block");
        const Expr of_thread_here = kernel::convert(of_thread(*reductions[r]).at({step()}), Type::f64);
        of_step.push_back(kernel::Declare{
            Type::f64, name, kernel::call_helper(block_helper(reductions[r]->op), {of_thread_here})});
        of_step.push_back(kernel::If{
            frame_.warp + frame_.lane_x == 0,
            {kernel::Assign{kernel::element(context.step_partials(static_cast<int>(r)), {place}, Type::f64),
                            kernel::variable(name, Type::f64)}},
            {}});
    }
    append(body, loop_over("s", frame_.k_steps, std::move(of_step)));
}

}  // namespace halo::lower
