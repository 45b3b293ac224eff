// What tables promise: rows of one table at a time, and columns made of what comes before them.
#include <algorithm>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/ir/verifier.h"

namespace halo::ir {

namespace {

bool is_leaf(const Expr& expr) {
    bool leaf = true;
    for_each_operand(expr, [&](ExprId) { leaf = false; });
    return leaf || std::holds_alternative<TableSum>(expr.node);
}

}  // namespace

// Which table's row each expression depends on, if any; a sum is over its own row alone, and gives none.
void Verifier::check_tables() {
    row_of_.assign(program_.exprs.size(), -1);
    sums_.assign(program_.exprs.size(), false);
    for (std::uint32_t i = 0; i < program_.exprs.size(); ++i) {
        const Expr& expr = program_.exprs[i];
        int row = -1;
        bool sums = false;
        for_each_operand(expr, [&](ExprId operand) {
            const int of_operand = row_of_[operand.index];
            if (row >= 0 && of_operand >= 0 && row != of_operand)
                broken("expression {} reads rows of two tables", i);
            row = std::max(row, of_operand);
            sums = sums || sums_[operand.index];
        });
        if (const auto* column = std::get_if<TableColumn>(&expr.node))
            row = static_cast<int>(column->table.index);
        const auto* series = std::get_if<SeriesValue>(&expr.node);
        if (series != nullptr && !uniform_[series->at.index])
            broken("expression {} reads a series at a number that varies from cell to cell", i);
        if (const auto* sum = std::get_if<TableSum>(&expr.node)) {
            if (sums) broken("expression {} is a sum over a table within another", i);
            if (row >= 0 && row != static_cast<int>(sum->table.index))
                broken("expression {} sums over one table and reads another's row", i);
            row = -1;
            sums = true;
        }
        row_of_[i] = row;
        sums_[i] = sums;
    }
    for (std::size_t t = 0; t < program_.tables.size(); ++t)
        check_table(program_.tables[t], static_cast<int>(t));
}

void Verifier::check_table(const Table& table, int index) {
    if (table.columns.empty()) broken("table {} has no columns", table.name);
    const bool is_one_f64 =
        table.columns.size() == 1 && table.columns[0].type == Scalar::f64 && !table.columns[0].value;
    if (table.is_series && !is_one_f64) broken("series {} is not one given column of f64", table.name);
    bool computed = false;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const Table::Column& column = table.columns[c];
        if (!is_real(column.type)) broken("column {}.{} holds no numbers", table.name, column.name);
        if (computed && !column.value)
            broken("column {}.{} is given and comes after a computed one", table.name, column.name);
        if (!column.value) continue;
        computed = true;
        if (column.value->index >= program_.exprs.size()) {
            broken("column {}.{} has no expression", table.name, column.name);
            continue;
        }
        if (type_of(*column.value) != column.type)
            broken("column {}.{} is given a value of another type", table.name, column.name);
        const std::vector<bool> needed = reachable_exprs(program_, {*column.value});
        for (std::uint32_t i = 0; i < needed.size(); ++i) {
            if (!needed[i]) continue;
            const auto* read = std::get_if<TableColumn>(&program_.exprs[i].node);
            const bool is_before =
                read && static_cast<int>(read->table.index) == index && std::cmp_less(read->column, c);
            if (!is_before && !uniform_[i] && is_leaf(program_.exprs[i]))
                broken("column {}.{} is made of more than params and columns before it", table.name,
                       column.name);
        }
    }
}

}  // namespace halo::ir
