// The result of lowering a stage by any strategy, and the parts of code that strategies share.
#pragma once

#include <functional>
#include <limits>
#include <optional>

#include "compiler/lower/shared/cell.h"
#include "compiler/lower/shared/context.h"
#include "compiler/lower/shared/images.h"
#include "compiler/lower/shared/regions.h"
#include "compiler/schedule/schedule.h"

namespace halo::lower {

struct StrategyResult {
    kernel::KernelFunction
        function;        // body, constants and comment; name and parameters are added by the caller
    rt::Lengths tile{};  // a block's cells
    std::int64_t dynamic_shared_bytes = 0;
};

// Declares `constexpr int name = value` in the function and returns the variable; a literal where the value
// is 1.
kernel::Expr named_constant(kernel::KernelFunction& function, const std::string& name, int value,
                            const std::string& comment = "");

// count × stride more than `at`: at + pitch, at - 2 * slice.
kernel::Expr shifted(const kernel::Expr& at, int count, const kernel::Expr& stride);

// How many blocks along z have the planes of one volume of four axes (rt::blocks_of), of so many planes.
kernel::Expr declare_plane_blocks(const kernel::Expr& planes, int tile, kernel::Block& body);

// Declares i, j, k = the first of a thread's cells, `cells` neighbours along each axis, and returns them.
// `begin`: the first cell of the grid's first thread. `looped`: an axis whose index a loop declares.
// `planes`: how many the grid of the launch has, where it is not the whole grid.
CellIndex declare_first_cell(Context& context, const schedule::Schedule& schedule, const CellIndex& cells,
                             kernel::KernelFunction& function, const CellIndex& begin = {0, 0, 0},
                             std::optional<int> looped = std::nullopt, const kernel::Expr& planes = {});

// Of a kernel's tile: one block has all cells along the axis.
inline constexpr int kWholeAxis = std::numeric_limits<int>::max();

// The loop over a line of cells, in the order of a sweep along the axis.
kernel::Statement sweep_loop(int axis, bool upwards, const Bounds& bounds, kernel::Block cell);

// Appends the work of a stage that changes levels in place, at one cell. `element`: where a level is stored;
// `finish` appends what follows the stores.
void change_cell(Context& context, const CellSources& sources,
                 const std::function<kernel::Expr(const Level&)>& element,
                 const std::function<void(kernel::Block&)>& finish, kernel::Block& body);

// The cells that a statement stores along an axis: without its margins where the field keeps its old value
// there as nothing is stored.
struct StoreBounds {
    int low = 0, high = 0;
};
StoreBounds store_bounds(const StageView& stage, const Write& write, int axis);

// The guard of a single cell's store by those bounds; empty where there are none.
kernel::Expr inside_store_bounds(Context& context, const Write& write, const CellIndex& cell);

// A thread's index in its block along an axis; 0 where the block has one.
kernel::Expr thread_along(const schedule::Schedule& schedule, int axis);

// The element of a level at an offset from the cell at `at`, which element_offset() gave.
kernel::Expr element_beside(Context& context, const kernel::Expr& at, const Level& level,
                            const ir::Offset& shift);

// The sources of a cell's operands where all levels are read from global memory: `index` is the cell, `at`
// its place.
CellSources sources_at(Context& context, const CellIndex& index, const kernel::Expr& at);

// Stores the values of a cell; writes for the same cells share a guard.
void store_cell(Context& context, const CellIndex& index, const kernel::Expr& at, const CellValues& values,
                kernel::Block& body);

// Declares `at`, the place of the cell, and returns it.
kernel::Expr declare_place(Context& context, const CellIndex& index, kernel::Block& body);

// Moves all statements of `from` to the end of `to`.
void append(kernel::Block& to, kernel::Block from);

// An unrolled loop over one axis, `for (int var = 0; var < count; ++var)`; the body alone where count is 1.
kernel::Block loop_over(const std::string& var, const kernel::Expr& count, kernel::Block body);

}  // namespace halo::lower
