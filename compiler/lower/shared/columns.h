// Columns of a table that are computed from its other columns before a run, by a thread for each row.
#pragma once

#include "compiler/lower/shared/strategy.h"

namespace halo::lower {

bool has_computed_columns(const ir::Table& table);

// The kernel that computes them.
StrategyResult lower_columns(Context& context, ir::TableId table);

// The statements for one row; `from` is the place of its first element.
kernel::Block column_values(Context& context, ir::TableId table, const kernel::Expr& from);

}  // namespace halo::lower
