// Reductions in a temporal kernel: each step's cells are taken in once, by the tile that they come out of and
// in planes of the worker's own share. A thread has a result for each step from its first tile to its last.
#include "compiler/lower/reduce.h"
#include "compiler/lower/temporal_stage.h"

namespace halo::lower {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

namespace {

Expr counts() {
    return kernel::variable("counts", Type::boolean);
}

}  // namespace

RegisterArray TemporalStages::of_thread(const ir::Reduce& reduce) const {
    const Context& context = frame_.context;
    const bool is_narrow = schedule::words_of_reduction(context.program(), reduce) == 1;
    return RegisterArray(frame_.context.local(reduce.name + "_of_thread"),
                         is_narrow ? Type::f32 : Type::f64, {frame_.steps});
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

void TemporalStages::declare_counts(const Expr& plane, Block& body) {
    if (frame_.context.stage().reductions.empty()) return;
    body.push_back(kernel::Declare{Type::boolean, "counts",
                                   plane >= frame_.out_begin && plane < frame_.out_end});
}

void TemporalStages::reduce_cell(const CellValues& values, Block& cell) {
    const auto& reductions = frame_.context.stage().reductions;
    if (reductions.empty()) return;
    Expr own = kernel::variable("own_columns", Type::boolean);
    if (frame_.cells_x > 1) {
        const Expr i = frame_.i + frame_.x();
        own = kernel::select(frame_.near_side && kernel::logical_not(frame_.aligned),
                             i >= frame_.in_begin[0] && i < frame_.in_end[0], own);
    }
    own = counts() && own;
    if (frame_.two_rows) {
        const Expr j = frame_.j + frame_.y();
        own = own && j >= frame_.in_begin[1] && j < frame_.in_end[1];
    }
    for (std::size_t r = 0; r < reductions.size(); ++r) {
        const Expr so_far = of_thread(*reductions[r]).at({step()});
        cell.push_back(kernel::If{own && values.counted[r],
                                  {kernel::Assign{so_far, combined(reductions[r]->op, so_far,
                                                                   values.reduced[r])}},
                                  {}});
    }
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
            Type::f64, name,
            kernel::call_helper(block_helper(reductions[r]->op), {of_thread_here}, Type::f64)});
        of_step.push_back(kernel::If{
            frame_.warp + frame_.lane == 0,
            {kernel::Assign{
                kernel::element(context.step_partials(static_cast<int>(r)), {place}, Type::f64),
                kernel::variable(name, Type::f64)}},
            {}});
    }
    append(body, loop_over("s", frame_.k_steps, std::move(of_step)));
}

}  // namespace halo::lower
