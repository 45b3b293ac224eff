#include "compiler/lower/shared/columns.h"

#include <algorithm>
#include <map>

#include "compiler/lower/shared/cell.h"
#include "compiler/lower/shared/table_sums.h"

namespace halo::lower {

using kernel::Block;
using kernel::Builtin;
using kernel::Expr;
using kernel::Type;

Block column_values(Context& context, ir::TableId id, const Expr& from) {
    const ir::Program& program = context.program();
    const ir::Table& table = program[id];
    const std::string name = context.table(id, true);
    const Type type = table_shape(table).type;
    std::vector<ir::ExprId> computed;
    for (const ir::Table::Column& column : table.columns) {
        if (column.value) computed.push_back(*column.value);
    }
    const std::vector<bool> needed = ir::reachable_exprs(program, computed);
    Block body;
    std::map<std::uint32_t, Expr> values;
    for (std::size_t e = 0; e < needed.size(); ++e) {
        const auto* read = std::get_if<ir::TableColumn>(&program.exprs[e].node);
        if (!needed[e] || !read || table.columns[static_cast<std::size_t>(read->column)].value) continue;
        const std::string local = context.names().take(
            table.name + "_" + table.columns[static_cast<std::size_t>(read->column)].name);
        const Type own = kernel_type(program.exprs[e].type);
        const Expr place = kernel::element(name, {from + read->column}, type);
        body.push_back(kernel::Declare{own, local, kernel::convert(place, own)});
        values.emplace(static_cast<std::uint32_t>(e), kernel::variable(local, own));
    }
    CellSources sources;
    sources.coefs_as_parameters = true;
    sources.given = [&](ir::ExprId expr) {
        const auto known = values.find(expr.index);
        return known == values.end() ? Expr() : known->second;
    };
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const ir::Table::Column& column = table.columns[c];
        if (!column.value) continue;
        const Expr value = lower_value(context, sources, *column.value, table.name + "_" + column.name, body);
        for (std::size_t e = 0; e < needed.size(); ++e) {
            const auto* read = std::get_if<ir::TableColumn>(&program.exprs[e].node);
            if (needed[e] && read && read->column == static_cast<int>(c))
                values.emplace(static_cast<std::uint32_t>(e), value);
        }
        const Expr place = kernel::element(name, {from + static_cast<int>(c)}, type);
        body.push_back(kernel::Assign{place, kernel::convert(value, type)});
    }
    return body;
}

bool has_computed_columns(const ir::Table& table) {
    return std::any_of(table.columns.begin(), table.columns.end(),
                       [](const ir::Table::Column& column) { return column.value.has_value(); });
}

StrategyResult lower_columns(Context& context, ir::TableId table) {
    constexpr int kThreads = 128;
    StrategyResult result;
    result.tile[0] = kThreads;
    const Expr threads = named_constant(result.function, "kThreadsX", kThreads);
    const Expr row = kernel::variable("row", Type::i32);
    Block& body = result.function.body;
    body.push_back(kernel::Declare{
        Type::i32, "row", kernel::builtin(Builtin::block_x) * threads + kernel::builtin(Builtin::thread_x)});
    body.push_back(kernel::If{row >= context.rows(table), {kernel::Return{}}, {}});
    body.push_back(kernel::BlankLine{});
    const Expr from = kernel::convert(row, Type::i64) * table_shape(context.program()[table]).width;
    body.push_back(kernel::Declare{Type::i64, "at", from});
    append(body, column_values(context, table, kernel::variable("at", Type::i64)));
    return result;
}

}  // namespace halo::lower
