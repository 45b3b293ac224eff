#include "compiler/lower/reduce.h"

#include <limits>

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

double identity(ir::ReduceOp op) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return op == ir::ReduceOp::sum ? 0.0 : op == ir::ReduceOp::min ? kInfinity : -kInfinity;
}

}  // namespace

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
        const Expr value = kernel::convert(values.reduced[r], Type::f64);
        const Expr next = reductions[r]->op == ir::ReduceOp::sum ? so_far + value
                          : reductions[r]->op == ir::ReduceOp::min
                              ? kernel::call_helper("keep_min", {so_far, value}, Type::f64)
                              : kernel::call_helper("keep_max", {so_far, value}, Type::f64);
        const Expr counted = inside && values.counted[r];
        kernel::Block take{kernel::Assign{so_far, next}};
        if (counted) {
            body.push_back(kernel::If{counted, std::move(take), {}});
        } else {
            body.push_back(take.front());
        }
    }
}

void finish_reductions(Context& context, kernel::Block& body) {
    const auto& reductions = context.stage().reductions;
    if (reductions.empty()) return;
    body.push_back(kernel::BlankLine{});
    body.push_back(
        kernel::Comment{"One partial result a block; the host combines them in the blocks' order."});
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
        const char* combine = reductions[r]->op == ir::ReduceOp::sum   ? "block_sum"
                              : reductions[r]->op == ir::ReduceOp::min ? "block_min"
                                                                       : "block_max";
        const std::string name = context.local(reductions[r]->name + "_of_block");
        body.push_back(
            kernel::Declare{Type::f64, name, kernel::call_helper(combine, {result(context, r)}, Type::f64)});
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
