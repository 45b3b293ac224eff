// Reductions inside a kernel: a thread's partial result, then the block's, stored for the runtime to combine.
#pragma once

#include "compiler/lower/shared/cell.h"

namespace halo::lower {

// `double change = …;` for each reduction of the stage, before the first cell.
void begin_reductions(Context& context, kernel::Block& body);

// Adds a cell's values to the partial results. `inside` is the guard of the cell (empty: always inside);
// cells that a reduction excludes are guarded here.
void reduce_cell(Context& context, const CellValues& values, const kernel::Expr& inside, kernel::Block& body);

// The initial value of a partial result; the partial result with one more value; and the helper that combines
// those of a block's threads.
double identity(ir::ReduceOp op);
kernel::Expr combined(ir::ReduceOp op, const kernel::Expr& so_far, const kernel::Expr& value);
kernel::Helper block_helper(ir::ReduceOp op);

// In a kernel of one block: all of its threads go through what other blocks have stored, in the variable
// `part`, and keep what they have found in `of_thread`. The result, which thread 0 has, of what all of them
// have.
struct Partials {
    std::string name;  // of the pointer
    kernel::Expr count;
    int threads = 0;  // of the block
};
kernel::Expr combine_partials(ir::ReduceOp op, const Partials& partials, const std::string& of_thread,
                              const std::string& part, kernel::Block& body);

// Stores the block's result at its place of the partials.
void finish_reductions(Context& context, kernel::Block& body);

// Stores the results at partials[place], for the CPU, where a call is one thread.
void store_partials(Context& context, const kernel::Expr& place, kernel::Block& body);

}  // namespace halo::lower
