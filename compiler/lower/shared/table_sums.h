// Sums over tables: what of a stage's arithmetic is done once for a thread, once for each of its cells, once
// for each row, and once for each row and cell. What CUDA's strategy for tables and the CPU's loops share.
//
// A thread (or, on the CPU, a strip of a row) has several cells along the first axis. All sums over one table
// are made in one pass over its rows, so that terms share what they have in common.
#pragma once

#include <map>
#include <vector>

#include "compiler/lower/shared/cell.h"
#include "compiler/lower/shared/context.h"

namespace halo::lower {

bool has_table_sums(const StageView& stage);
std::vector<std::string> summed_tables(const StageView& stage);  // their names, each once
std::vector<std::string> table_roles();  // names that kernels over tables have for purposes of their own

// One pass over one table.
struct TablePass {
    ir::TableId table;
    std::vector<ir::ExprId> sums;
    std::vector<int> columns;           // that the terms read, ascending
    std::vector<ir::ExprId> of_thread;  // values that are the same for all rows and all cells of a thread
    std::vector<ir::ExprId> of_cell;    // the same for all rows
    std::vector<ir::ExprId> of_row;     // the same for all cells of a thread
};

// How rows lie in memory: all columns of the table in one type, rows `width` elements apart.
struct TableShape {
    kernel::Type type = kernel::Type::f32;
    int width = 1;
};
TableShape table_shape(const ir::Table& table);
// Elements that `columns` columns take, so that a row starts where vectors can be loaded.
int padded_width(int columns, kernel::Type type);

class TableSums {
public:
    // cells: how many a thread has, a constant (1: no arrays). cell: which of them, inside a loop over them.
    TableSums(Context& context, kernel::Expr cells, kernel::Expr cell);

    const std::vector<TablePass>& passes() const { return passes_; }

    // The values of a thread, before its cells. sources.index[0] is not asked for.
    void thread_values(const CellSources& sources, kernel::Block& body);
    // Arrays for what is kept for each cell, before the loop over them.
    void declare_arrays(kernel::Block& body);
    // A cell's values, and its sums at 0: the body of a loop over the cells.
    kernel::Block begin_cell(const CellSources& sources);
    // What a row does: declares the values that it reads by `column`, then runs `loop` around the work of a
    // cell.
    kernel::Block row(const TablePass& pass, const CellSources& sources,
                      const std::function<kernel::Expr(int column)>& column,
                      const std::function<kernel::Statement(kernel::Block)>& loop);
    // Adds the sums, when they are done, to what a cell is computed from.
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
