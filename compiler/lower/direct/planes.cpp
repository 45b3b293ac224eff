// A sweep along two axes: a block of threads goes through each plane of them. Of what the sweep writes, a
// cell reads none of its own front, a slanted line of cells, and of other lines what lies in fronts before,
// or what is to remain as it was in those that follow. So all cells of a front are done at once, and then the
// threads wait for each other.
#include "compiler/ir/sweeps.h"
#include "compiler/lower/direct/direct.h"

namespace halo::lower {
namespace {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

class Planes {
public:
    Planes(Context& context, const schedule::Schedule& schedule, Images& images)
        : context_(context),
          images_(images),
          sweep_(*context.stage().in_place->sweep),
          threads_(schedule.threads) {
        for (int axis = 0; axis < context.rank(); ++axis)
            bounds_.push_back(region_bounds(context, context.stage().in_place->region, axis));
    }

    StrategyResult lower() {
        for (int axis = 0; axis < context_.rank(); ++axis) {
            cell_[axis] = kernel::variable(Context::kIndexNames[axis], Type::i32);
            result_.tile[axis] = sweep_.goes_along(axis) ? kWholeAxis : 1;
            if (!sweep_.goes_along(axis))
                body().push_back(kernel::Declare{Type::i32, Context::kIndexNames[axis],
                                                 kernel::block_index(axis) + bounds_[axis].begin});
        }
        const Bounds &outer = bounds_[sweep_.axis], &inner = bounds_[sweep_.inner->axis];
        const Expr threads = named_constant(result_.function, "kThreads",
                                            threads_[0] * threads_[1] * threads_[2], "of a block");
        const Expr slant = named_constant(result_.function, "kSlant", slant_of_stage(),
                                          "cells by which a line is behind the line before it");
        declare(body(), "thread", thread());
        declare(body(), "lines", outer.end - outer.begin);
        declare(body(), "cells", inner.end - inner.begin);
        Block front;
        declare(front, "first_line", kernel::max(0, (local("front") - local("cells") + slant) / slant));
        declare(front, "last_line", kernel::min(local("lines"), local("front") / slant + 1));
        Block cell;
        declare_index(cell, sweep_.axis, sweep_.upwards, local("line"));
        declare_index(cell, sweep_.inner->axis, sweep_.inner->upwards,
                      local("front") - slant * local("line"));
        change(cell);
        front.push_back(kernel::For{context_.local("line"), local("first_line") + local("thread"),
                                    local("last_line"), threads, kernel::Unroll::none, std::move(cell)});
        front.push_back(kernel::Barrier{});
        body().push_back(kernel::BlankLine{});
        body().push_back(kernel::For{context_.local("front"), 0,
                                     local("cells") + slant * (local("lines") - 1), 1, kernel::Unroll::none,
                                     std::move(front)});
        return std::move(result_);
    }

private:
    Block& body() { return result_.function.body; }
    Expr local(const char* wanted) const { return kernel::variable(context_.local(wanted), Type::i32); }
    void declare(Block& block, const char* wanted, const Expr& value) const {
        block.push_back(kernel::Declare{Type::i32, context_.local(wanted), value});
    }

    int slant_of_stage() const {
        const auto& statements = context_.program().statements;
        for (const int index : context_.stage().stage.statements)
            if (ir::sweep_of(statements[static_cast<std::size_t>(index)]) != nullptr)
                return ir::slant_of(context_.program(), static_cast<std::size_t>(index));
        return 1;
    }

    // Its number in the block.
    Expr thread() const {
        Expr number = kernel::thread_index(0);
        if (threads_[1] > 1) number = number + kernel::thread_index(1) * threads_[0];
        if (threads_[2] > 1) number = number + kernel::thread_index(2) * (threads_[0] * threads_[1]);
        return number;
    }

    // Of the cell that has `before` others before it along the axis.
    void declare_index(Block& block, int axis, bool upwards, const Expr& before) const {
        const Bounds& bounds = bounds_[axis];
        block.push_back(kernel::Declare{Type::i32, Context::kIndexNames[axis],
                                        upwards ? bounds.begin + before : bounds.end - 1 - before});
    }

    void change(Block& cell) {
        const Expr at = declare_place(context_, cell_, cell);
        change_cell(
            context_, sources_at(context_, cell_, at),
            [&](const Level& level) { return context_.element(level, at); },
            [&](Block& changed) { images_.append(context_, cell_, {1, 1, 1}, {1, 1, 1}, changed); }, cell);
    }

    Context& context_;
    Images& images_;
    const ir::LineSweep& sweep_;
    const rt::Lengths threads_;
    std::vector<Bounds> bounds_;
    StrategyResult result_;
    CellIndex cell_;
};

}  // namespace

StrategyResult lower_planes(Context& context, const schedule::Schedule& schedule, Images& images) {
    return Planes(context, schedule, images).lower();
}

}  // namespace halo::lower
