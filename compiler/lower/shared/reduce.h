// Reductions inside a kernel: a thread's partial result, then the block's, stored for the runtime to combine.
#pragma once

#include "compiler/lower/shared/cell.h"

namespace halo::lower {

// `double change = …;` for each reduction of the stage, before the first cell.
void begin_reductions(Context& context, kernel::Block& body);

// Takes a cell's values in; `inside` is the guard of the cell (empty: always inside); the cells that a
// reduction leaves out are seen to here.
void reduce_cell(Context& context, const CellValues& values, const kernel::Expr& inside, kernel::Block& body);

// What there is before the first cell; what there is after one more value; and the helper that combines those
// of a block's threads.
double identity(ir::ReduceOp op);
kernel::Expr combined(ir::ReduceOp op, const kernel::Expr& so_far, const kernel::Expr& value);
kernel::Helper block_helper(ir::ReduceOp op);

// The block's result into its place of the partials.
void finish_reductions(Context& context, kernel::Block& body);

// Stores the results at partials[place]: the CPU's form, where one call is one thread.
void store_partials(Context& context, const kernel::Expr& place, kernel::Block& body);

}  // namespace halo::lower
