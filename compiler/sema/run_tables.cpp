// The rows of tables that a run fills.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/ir/analysis.h"
#include "compiler/sema/run_analyzer.h"
#include "compiler/sema/types.h"

namespace halo::sema {

bool RunAnalyzer::is_table(const syntax::Name& name) const {
    const Symbol* symbol = symbols_.find(name.text);
    return symbol && (symbol->kind == Symbol::Kind::table || symbol->kind == Symbol::Kind::series);
}

const Symbol* RunAnalyzer::table_of(const syntax::Name& name) {
    if (is_table(name)) return symbols_.find(name.text);
    if (const Symbol* symbol = symbols_.find(name.text)) {
        sink_.report(DiagnosticKind::misused_name, name.where,
                     fmt::format("`{}` is {}; a table is expected here", name.text, describe(symbol->kind)));
    } else {
        settings_.report_unknown(DiagnosticKind::unknown_name, name.text, name.where,
                                 fmt::format("`{}` has no table `{}`", result_.stencil, name.text),
                                 settings_.candidates([](Symbol::Kind kind) {
                                     return kind == Symbol::Kind::table || kind == Symbol::Kind::series;
                                 }));
    }
    return nullptr;
}

RunAnalyzer::Fill& RunAnalyzer::fill_of(const std::string& table, SourceRange where) {
    Fill& fill = fills_[table];
    if (fill.made) return fill;
    fill.where = where;
    fill.made = std::make_unique<TableFill>();
    fill.made->table = table;
    ir::Program& program = fill.made->init;
    program.name = result_.stencil + "_" + table;
    fill.evaluator.emplace(file_, symbols_, Place::row, program, ir::Scalar::f64, sink_);
    fill.evaluator->declare_params();
    fill.evaluator->declare_coefs();
    Arithmetic& arithmetic = fill.evaluator->arithmetic();
    program.axes.push_back({"row", arithmetic.as_uniform(Value::of(Rational(1)), where),
                            arithmetic.as_uniform(Value::of(Rational(0)), where)});
    fill.evaluator->define_local(
        "row", arithmetic.leaf(ir::Scalar::f64, ir::Coordinate{ir::CoordinateKind::index, 0}, false, where));
    return fill;
}

void RunAnalyzer::read(const syntax::RowsStatement& rows) {
    const Symbol* symbol = table_of(rows.table);
    const auto count =
        settings_.integer(rows.count, "the number of rows", 0, std::numeric_limits<std::int32_t>::max());
    if (!symbol || !is_first(fmt::format("the rows of `{}`", symbol->name), rows.where)) return;
    Fill& fill = fill_of(symbol->name, rows.where);
    fill.rows = count.value_or(0);
}

RunAnalyzer::Target RunAnalyzer::target_of(syntax::ExprId id) const {
    Target target;
    const syntax::Expr* base = &file_[id];
    while (const auto* member = std::get_if<syntax::Member>(&base->node)) {
        target.member = &member->member;
        base = &file_[member->base];
    }
    if (const auto* name = std::get_if<syntax::NameUse>(&base->node)) target.name = {name->name, base->where};
    return target;
}

void RunAnalyzer::read_column(const syntax::InitStatement& init, const Target& target) {
    const Symbol* symbol = table_of(target.name);
    if (!symbol) return;
    const ir::Table& table = stencil_.tables[static_cast<std::size_t>(symbol->index)];
    const std::size_t given = ir::given_columns(table);
    if (table.is_series && target.member) {
        sink_
            .report(DiagnosticKind::misused_name, target.member->where,
                    fmt::format("`{}` is a series and has no columns", table.name))
            .note(fmt::format("`init {} = …` gives its values", table.name));
        return;
    }
    if (!table.is_series && !target.member) {
        sink_
            .report(DiagnosticKind::misused_name, target.name.where,
                    fmt::format("`{}` is a table; `init` fills its columns one by one", table.name))
            .note(fmt::format("as in `init {}.{} = …`", table.name, table.columns.front().name));
        return;
    }
    const auto column = std::find_if(table.columns.begin(), table.columns.end(), [&](const auto& each) {
        return table.is_series || each.name == target.member->text;
    });
    if (column == table.columns.end() || static_cast<std::size_t>(column - table.columns.begin()) >= given) {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < given; ++i)
            names.push_back(table.columns[i].name);
        const bool computed = column != table.columns.end();
        sink_
            .report(DiagnosticKind::unknown_column, target.member->where,
                    computed
                        ? fmt::format("the column `{}` of `{}` is computed", target.member->text, table.name)
                        : fmt::format("the table `{}` has no column `{}`", table.name, target.member->text))
            .note(fmt::format("these are given: {}", fmt::join(names, ", ")));
        return;
    }
    const std::string what = table.is_series
                                 ? fmt::format("the values of `{}`", table.name)
                                 : fmt::format("the column `{}` of `{}`", column->name, table.name);
    if (!is_first(what, target.name.where)) return;
    Fill& fill = fill_of(table.name, init.where);
    const Value value = fill.evaluator->number(init.value);
    if (target.member)
        fill.evaluator->define_local(target.member->text, value);  // columns after it can use it
    if (value.is_poison()) return;
    ir::Program& program = fill.made->init;
    ir::Field field;
    field.name = column->name;
    field.type = column->type;
    field.storage = ir::natural_storage(column->type);
    field.role = ir::Role::output;
    field.where = target.name.where;
    ir::Assign assign;
    assign.target = ir::FieldId{static_cast<std::uint32_t>(program.fields.size())};
    assign.value = fill.evaluator->arithmetic().as(value, field.type, settings_.where(init.value));
    assign.where = init.where;
    program.fields.push_back(std::move(field));
    program.statements.emplace_back(assign);
}

void RunAnalyzer::finish(const std::string& name, Fill& fill) {
    if (!fill.rows) {
        sink_.report(DiagnosticKind::rows_needed, fill.where, fmt::format("how many rows has `{}`?", name))
            .note(fmt::format("`rows {} = 1000` says so", name));
        return;
    }
    for (const Load& load : result_.table_loads) {
        if (load.field != name) continue;
        sink_
            .report(DiagnosticKind::duplicate_setting, load.where,
                    fmt::format("`{}` is both loaded and filled by `init`", name))
            .label(fill.where, "filled here");
    }
    fill.evaluator.reset();
    fill.made->rows = *fill.rows;
    fill.made->where = fill.where;
    result_.tables.push_back(std::move(*fill.made));
}

}  // namespace halo::sema
