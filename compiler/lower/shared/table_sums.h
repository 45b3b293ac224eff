// Sums over tables: divides a stage's arithmetic into that which is done once for a thread, for each of its
// cells, for each row, and for each row and cell. CUDA's strategy for tables and the CPU's loops share it.
//
// A thread (on the CPU, a strip of a row) has several cells along the first axis. One pass over a table's
// rows computes all sums over it, so that terms share common subexpressions.
#pragma once

#include <map>
#include <vector>

#include "compiler/lower/shared/cell.h"
#include "compiler/lower/shared/context.h"

namespace halo::lower {

bool has_table_sums(const StageView& stage);
std::vector<std::string> summed_tables(const StageView& stage);  // their names, each once
std::vector<std::string> table_roles();                          // names that kernels over tables reserve

// One pass over one table.
struct TablePass {
    ir::TableId table;
    std::vector<ir::ExprId> sums;
    std::vector<int> columns;           // that the terms read, ascending
    std::vector<ir::ExprId> of_thread;  // values that are the same for all rows and all cells of a thread
    std::vector<ir::ExprId> of_cell;    // the same for all rows
    std::vector<ir::ExprId> of_row;     // the same for all cells of a thread
};

// The layout of rows in memory: all columns of the table have one type; rows are `width` elements apart.
struct TableShape {
    kernel::Type type = kernel::Type::f32;
    int width = 1;
};
TableShape table_shape(const ir::Table& table);
// Elements of a row of `columns` columns, rounded up so that rows are aligned for vector loads.
int padded_width(int columns, kernel::Type type);

class TableSums {
public:
    // cells: of a thread, a constant (1: no arrays). cell: the variable of a loop over these.
    TableSums(Context& context, kernel::Expr cells, kernel::Expr cell);

    const std::vector<TablePass>& passes() const { return passes_; }

    // The values of a thread, before its cells. sources.index[0] is not used.
    void thread_values(const CellSources& sources, kernel::Block& body);
    // Declares arrays for the values that are kept for each cell, before the loop over the cells.
    void declare_arrays(kernel::Block& body);
    // The body of a loop over the cells: a cell's values, and its sums, which start as 0.
    kernel::Block begin_cell(const CellSources& sources);
    // The work for a row: declares the values that `column` loads, then puts `loop` around the work of a
    // cell.
    kernel::Block row(const TablePass& pass, const CellSources& sources,
                      const std::function<kernel::Expr(int column)>& column,
                      const std::function<kernel::Statement(kernel::Block)>& loop);
    // Adds the finished sums to the operands of a cell.
    CellSources with_sums(CellSources sources) const;

private:
    struct Slot {
        std::string name;
        kernel::Type type;
    };
    void find_passes();
    kernel::Expr place(const Slot& slot) const;
    std::string wanted_name(ir::ExprId id) const;
    CellSources with(CellSources sources, const std::map<std::uint32_t, kernel::Expr>& more) const;

    Context& context_;
    kernel::Expr cells_, cell_;
    bool single_ = false;
    std::vector<TablePass> passes_;
    std::vector<bool> reads_row_;                   // by expression: differs from row to row
    std::vector<bool> along_cells_;                 // by expression: differs from cell to cell of a thread
    std::map<std::uint32_t, kernel::Expr> thread_;  // values of the thread
    std::map<std::uint32_t, Slot> slots_;           // of cells: values and sums
};

}  // namespace halo::lower
