#include "compiler/lower/shared/reduce.h"

#include <limits>

#include "compiler/lower/shared/repeat_end.h"

namespace halo::lower {
namespace {

using kernel::Builtin;
using kernel::Expr;
using kernel::Type;

std::string result_name(Context& context, std::size_t reduction) {
    return context.local(context.stage().reductions[reduction]->name + "_of_thread");
}

Expr result(Context& context, std::size_t reduction) {
    return kernel::variable(result_name(context, reduction), Type::f64);
}

}  // namespace

double identity(ir::ReduceOp op) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return op == ir::ReduceOp::sum ? 0.0 : op == ir::ReduceOp::min ? kInfinity : -kInfinity;
}

Expr combined(ir::ReduceOp op, const Expr& so_far, const Expr& value) {
    const Type type = so_far.type();
    const Expr next = kernel::convert(value, type);
    if (op == ir::ReduceOp::sum) return so_far + next;
    const bool is_least = op == ir::ReduceOp::min;
    if (type == Type::f32)
        return kernel::call_helper(is_least ? kernel::Helper::keep_min_f32 : kernel::Helper::keep_max_f32,
                                   {so_far, next});
    return kernel::call_helper(is_least ? kernel::Helper::keep_min : kernel::Helper::keep_max,
                               {so_far, next});
}

kernel::Helper block_helper(ir::ReduceOp op) {
    return op == ir::ReduceOp::sum   ? kernel::Helper::block_sum
           : op == ir::ReduceOp::min ? kernel::Helper::block_min
                                     : kernel::Helper::block_max;
}

void begin_reductions(Context& context, kernel::Block& body) {
    const auto& reductions = context.stage().reductions;
    for (std::size_t r = 0; r < reductions.size(); ++r) {
        body.push_back(kernel::Declare{Type::f64, result_name(context, r),
                                       kernel::real_literal(identity(reductions[r]->op), Type::f64), true});
    }
}

void reduce_cell(Context& context, const CellValues& values, const Expr& inside, kernel::Block& body) {
    const auto& reductions = context.stage().reductions;
    for (std::size_t r = 0; r < reductions.size(); ++r) {
        const Expr so_far = result(context, r);
        const Expr next = combined(reductions[r]->op, so_far, values.reduced[r]);
        const Expr counted = inside && values.counted[r];
        context.note(reductions[r]->where, body);
        kernel::Block take{kernel::Assign{so_far, next}};
        if (counted) {
            body.push_back(kernel::If{counted, std::move(take), {}});
        } else {
            body.push_back(take.front());
        }
    }
}

kernel::Expr combine_partials(ir::ReduceOp op, const Partials& partials, const std::string& of_thread,
                              const std::string& part, kernel::Block& body) {
    const kernel::Expr so_far = kernel::variable(of_thread, kernel::Type::f64);
    const kernel::Expr each =
        kernel::element(partials.name, {kernel::variable(part, kernel::Type::i32)}, kernel::Type::f64);
    body.push_back(kernel::Declare{kernel::Type::f64, of_thread,
                                   kernel::real_literal(identity(op), kernel::Type::f64), true});
    kernel::For loop;
    loop.var = part;
    loop.begin = kernel::builtin(kernel::Builtin::thread_x);
    loop.end = partials.count;
    loop.step = partials.threads;
    loop.body.push_back(kernel::Assign{so_far, combined(op, so_far, each)});
    body.push_back(std::move(loop));
    return kernel::call_helper(block_helper(op), {so_far});
}

void finish_reductions(Context& context, kernel::Block& body) {
    const auto& reductions = context.stage().reductions;
    if (reductions.empty()) return;
    body.push_back(kernel::BlankLine{});
    body.push_back(kernel::Comment{
        is_in_ended_repeat(context)
            ? "One partial result a block; what a condition reads is combined after each iteration."
            : "One partial result a block; the host combines them in the blocks' order."});
    const Expr thread = kernel::builtin(Builtin::thread_x) + kernel::builtin(Builtin::thread_y) +
                        kernel::builtin(Builtin::thread_z);
    Expr place = kernel::builtin(Builtin::block_x);
    if (context.rank() > 2) {
        place = place + kernel::builtin(Builtin::blocks_x) *
                            (kernel::builtin(Builtin::block_y) +
                             kernel::builtin(Builtin::blocks_y) * kernel::builtin(Builtin::block_z));
    } else if (context.rank() > 1) {
        place = place + kernel::builtin(Builtin::blocks_x) * kernel::builtin(Builtin::block_y);
    }
    for (std::size_t r = 0; r < reductions.size(); ++r) {
        const std::string name = context.local(reductions[r]->name + "_of_block");
        body.push_back(kernel::Declare{
            Type::f64, name, kernel::call_helper(block_helper(reductions[r]->op), {result(context, r)})});
        kernel::Block store{
            kernel::Assign{kernel::element(context.partials(static_cast<int>(r)), {place}, Type::f64),
                           kernel::variable(name, Type::f64)}};
        body.push_back(kernel::If{thread == 0, std::move(store), {}});
    }
}

void store_partials(Context& context, const Expr& place, kernel::Block& body) {
    for (std::size_t r = 0; r < context.stage().reductions.size(); ++r) {
        body.push_back(kernel::Assign{
            kernel::element(context.partials(static_cast<int>(r)), {place}, Type::f64), result(context, r)});
    }
}

}  // namespace halo::lower
