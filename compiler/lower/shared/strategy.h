// What lowering a stage by any strategy gives, and the pieces that strategies arrange.
#pragma once

#include "compiler/lower/shared/cell.h"
#include "compiler/lower/shared/context.h"
#include "compiler/lower/shared/images.h"
#include "compiler/schedule/schedule.h"

namespace halo::lower {

struct StrategyResult {
    kernel::KernelFunction
        function;  // body, constants and comment; name and parameters are added by the caller
    std::array<int, 3> tile{1, 1, 1};  // a block's cells
    std::int64_t dynamic_shared_bytes = 0;
};

// `constexpr int name = value` in the function, and the name to use; a literal where the value is 1.
kernel::Expr named_constant(kernel::KernelFunction& function, const std::string& name, int value,
                            const std::string& comment = "");

// count × stride more than `at`: at + pitch, at - 2 * slice.
kernel::Expr shifted(const kernel::Expr& at, int count, const kernel::Expr& stride);

// Declares i, j, k = the first of a thread's cells, `cells` neighbours along each axis, and returns them.
// `begin`: where the cells of the grid's first thread are.
std::array<kernel::Expr, 3> declare_first_cell(Context& context, const schedule::Schedule& schedule,
                                               const std::array<kernel::Expr, 3>& cells,
                                               kernel::KernelFunction& function,
                                               const std::array<kernel::Expr, 3>& begin = {0, 0, 0});

// The cells a statement stores along an axis: all but its margins, where the field keeps what it holds by no
// store.
struct StoreBounds {
    int low = 0, high = 0;
};
StoreBounds store_bounds(const Context& context, const Write& write, int axis);

// The guard of a single cell's store by those bounds; empty where there are none.
kernel::Expr inside_store_bounds(Context& context, const Write& write,
                                 const std::array<kernel::Expr, 3>& cell);

// A thread's index in its block along an axis; 0 where the block has one.
kernel::Expr thread_along(const schedule::Schedule& schedule, int axis);

// The element of a level so far from the cell at `at`, which element_offset() gave.
kernel::Expr element_beside(Context& context, const kernel::Expr& at, const Level& level,
                            const ir::Offset& shift);

// Where one cell's values come from when each level is read in memory: `index` is the cell, `at` its place.
CellSources sources_at(Context& context, const std::array<kernel::Expr, 3>& index, const kernel::Expr& at);

// Stores what the stage computes at a cell; writes for the same cells share a guard.
void store_cell(Context& context, const std::array<kernel::Expr, 3>& index, const kernel::Expr& at,
                const CellValues& values, kernel::Block& body);

// Declares `at`, where the cell lies, and returns it.
kernel::Expr declare_place(Context& context, const std::array<kernel::Expr, 3>& index, kernel::Block& body);

// Moves all statements of `from` to the end of `to`.
void append(kernel::Block& to, kernel::Block from);

// Loops over one axis where it has more than one pass: `for (int var = 0; var < count; ++var)` unrolled, else
// the body.
kernel::Block loop_over(const std::string& var, const kernel::Expr& count, kernel::Block body);

}  // namespace halo::lower
