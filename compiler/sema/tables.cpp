// Tables: their columns, sums over their rows; series; and functions that may be approximations.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/analysis.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/evaluator.h"
#include "compiler/sema/scope.h"
#include "compiler/sema/types.h"

namespace halo::sema {

namespace {

constexpr std::size_t kMaxColumns = 64;
constexpr std::string_view kFastFunctions[] = {"sin", "cos", "exp", "log", "rsqrt"};

}  // namespace

// ---- columns
// -----------------------------------------------------------------------------------------------

void Evaluator::declare_tables() {
    for (const Symbol& symbol : symbols_.all()) {
        if (symbol.kind == Symbol::Kind::table) declare_table(symbol);
        if (symbol.kind == Symbol::Kind::series) declare_series(symbol);
    }
}

void Evaluator::declare_table(const Symbol& symbol) {
    const ir::TableId id{static_cast<std::uint32_t>(program_.tables.size())};
    ir::Table table;
    table.name = symbol.name;
    table.where = symbol.where;
    program_.tables.push_back(std::move(table));
    for (const syntax::ColumnDecl& declaration : symbol.table->columns)
        declare_columns(declaration, id);
    const bool has_given = ir::given_columns(program_[id]) > 0;
    if (!has_given && !symbols_.is_unread(symbol.name)) {
        report(DiagnosticKind::empty_table, symbol.where,
               fmt::format("`{}` has no column that a run could give", symbol.name))
            .note("as in `table atoms { x, y, z, q: f32 }`");
    }
    // Stands in, so that the rest can be read.
    if (program_[id].columns.empty()) program_.tables[id.index].columns.push_back({"", ir::Scalar::f32, {}});
}

void Evaluator::declare_columns(const syntax::ColumnDecl& declaration, ir::TableId id) {
    for (const syntax::Name& name : declaration.names) {
        const std::vector<ir::Table::Column>& columns = program_[id].columns;
        const bool is_known = std::any_of(columns.begin(), columns.end(),
                                          [&](const auto& column) { return column.name == name.text; });
        if (is_known) {
            report(DiagnosticKind::duplicate_name, name.where,
                   fmt::format("`{}` has two columns called `{}`", program_[id].name, name.text));
            continue;
        }
        if (columns.size() == kMaxColumns) {
            report(DiagnosticKind::too_many_terms, name.where,
                   fmt::format("`{}` has more than {} columns", program_[id].name, kMaxColumns));
            return;
        }
        if (declaration.value) {
            if (auto column = computed_column(declaration, id))
                program_.tables[id.index].columns.push_back(std::move(*column));
            continue;
        }
        if (!columns.empty() && columns.back().value) {
            report(
                DiagnosticKind::column_order, name.where,
                fmt::format("`{}` is given by the run and must come before the computed columns", name.text));
            continue;
        }
        const ir::Scalar type = column_type(*declaration.type, ir::Scalar::f32);
        program_.tables[id.index].columns.push_back({name.text, type, {}});
    }
}

// Columns hold real numbers.
ir::Scalar Evaluator::column_type(const syntax::TypeRef& type, ir::Scalar otherwise) {
    const std::optional<ir::Scalar> found = resolve_number_type(type, "a column", *this);
    if (!found) return otherwise;
    if (ir::is_real(*found)) return *found;
    report(DiagnosticKind::not_built_yet, type.storage.where, "columns of integers are not built yet")
        .note("f64 holds whole numbers exactly up to 2^53");
    return otherwise;
}

bool Evaluator::changes_with_step(ir::ExprId id) const {
    for (const std::uint32_t i : ir::reached_exprs(program_, {id})) {
        const auto* coordinate = std::get_if<ir::Coordinate>(&program_.exprs[i].node);
        const bool is_step = coordinate && coordinate->kind == ir::CoordinateKind::step;
        if (is_step || std::holds_alternative<ir::ReductionRef>(program_.exprs[i].node) ||
            std::holds_alternative<ir::SeriesValue>(program_.exprs[i].node))
            return true;
    }
    return false;
}

std::optional<ir::Table::Column> Evaluator::computed_column(const syntax::ColumnDecl& declaration,
                                                            ir::TableId id) {
    Scope scope(*this);
    place_ = Place::column;
    frame_ = locals_.size();
    for (std::size_t i = 0; i < program_[id].columns.size(); ++i) {
        const ir::Table::Column& column = program_[id].columns[i];
        locals_.push_back(
            {column.name, arithmetic_.leaf(column.type, ir::TableColumn{id, static_cast<int>(i)}, false,
                                           declaration.names.front().where)});
    }
    const Value value = number(*declaration.value);
    if (value.is_poison()) return std::nullopt;
    if (value.is_expr() && changes_with_step(value.id)) {
        report(DiagnosticKind::not_constant, where(*declaration.value),
               fmt::format("`{}` is computed before the steps and cannot change with them",
                           declaration.names.front().text));
        return std::nullopt;
    }
    ir::Table::Column column;
    column.name = declaration.names.front().text;
    column.type = value.is_uniform() || !ir::is_real(value.type) ? arithmetic_.compute_type() : value.type;
    if (declaration.type) column.type = column_type(*declaration.type, column.type);
    column.value = arithmetic_.as(value, column.type, where(*declaration.value));
    return column;
}

// ---- series
// --------------------------------------------------------------------------------------------------

void Evaluator::declare_series(const Symbol& symbol) {
    ir::Table table;
    table.name = symbol.name;
    table.columns.push_back({"value", ir::Scalar::f64, {}});
    table.is_series = true;
    table.where = symbol.where;
    program_.tables.push_back(std::move(table));
}

Value Evaluator::series_value(const Symbol& symbol, const syntax::Index& node, SourceRange where) {
    if (place_ == Place::setting) {
        report(DiagnosticKind::varies_in_time, where,
               fmt::format("`{}` is a series: it changes from step to step", symbol.name))
            .note(setting_rule("all steps"));
        return Value();
    }
    if (place_ != Place::step && place_ != Place::ghost) {
        refuse_field(symbol, where);
        return Value();
    }
    if (node.subscripts.size() != 1) {
        report(DiagnosticKind::misused_name, where,
               fmt::format("`{}` is a series and is read at one number, as in `{}[step]`", symbol.name,
                           symbol.name));
        return Value();
    }
    const syntax::ExprId at = node.subscripts.front();
    if (const std::optional<SourceRange> level = time_level_in(at)) {
        report(DiagnosticKind::misused_name, *level,
               fmt::format("`{}` is a series and has no time levels: it is read at a number", symbol.name))
            .note("`step` is the number of steps done before this one")
            .mend(*level, "step");
        return Value();
    }
    const Value number = this->number(at);
    if (number.is_poison()) return Value();
    if (!number.is_uniform()) {
        report(DiagnosticKind::not_uniform, this->where(at),
               fmt::format("`{}` is a series and is read at a number that is the same in all cells",
                           symbol.name))
            .note(
                "`step`, `time`, params and reductions are such numbers; what varies from cell to cell is a "
                "field");
        return Value();
    }
    const ir::TableId id{static_cast<std::uint32_t>(symbol.index)};
    return arithmetic_.leaf(ir::Scalar::f64, ir::SeriesValue{id, arithmetic_.as_uniform(number, where)}, true,
                            where);
}

// The `t` of `t` or `t+1`.
std::optional<SourceRange> Evaluator::time_level_in(syntax::ExprId id) const {
    const syntax::Expr* expr = &file_[id];
    if (const auto* sum = std::get_if<syntax::BinaryExpr>(&expr->node)) expr = &file_[sum->left];
    const auto* name = std::get_if<syntax::NameUse>(&expr->node);
    return name != nullptr && name->name == "t" ? std::optional(expr->where) : std::nullopt;
}

// ---- sums
// --------------------------------------------------------------------------------------------------

Value Evaluator::table_fold(const syntax::TableFold& node, SourceRange where) {
    const Symbol* symbol = symbols_.find(node.table.text);
    if (!symbol || symbol->kind != Symbol::Kind::table) {
        if (symbol) {
            report(DiagnosticKind::misused_name, node.table.where,
                   fmt::format("`{}` is {}; a sum is over a range, as in `i in 1..4`, or over a table",
                               node.table.text, describe(symbol->kind)));
        } else {
            report_unknown(DiagnosticKind::unknown_name, node.table.text, node.table.where,
                           fmt::format("there is no table `{0}`; `table {0} {{ x, q: f32 }}` declares one",
                                       node.table.text),
                           candidates([](Symbol::Kind kind) { return kind == Symbol::Kind::table; }));
        }
        return Value();
    }
    if (place_ != Place::step) {
        report(DiagnosticKind::misused_name, where, "a sum over a table cannot stand here")
            .note("it can be in the statements of a stencil");
        return Value();
    }
    if (in_table_sum_) {
        report(DiagnosticKind::nested_table_sum, where, "a sum over a table stands within another")
            .note("give the inner one a name before: `let total = sum(…) …`, or a field");
        return Value();
    }
    Scope scope(*this);
    in_table_sum_ = true;
    const ir::TableId table{static_cast<std::uint32_t>(symbol->index)};
    bool valid = accept_row_name(node.row, "a row");
    locals_.push_back({node.row.text, Value::of(table)});
    for (const syntax::RowLet& let : node.lets) {
        valid = accept_row_name(let.name, "a `let` of a sum") && valid;
        Value value = evaluate(let.value);
        locals_.push_back({let.name.text, std::move(value)});
    }
    const Value term = number(node.body);
    in_table_sum_ = false;
    return valid ? arithmetic_.table_sum(table, term, where) : Value();
}

// `u[x+1]` means the axis, whatever `x` is.
bool Evaluator::accept_row_name(const syntax::Name& name, const char* what) {
    const Symbol* other = symbols_.find(name.text);
    const bool is_axis = other && other->kind == Symbol::Kind::axis;
    if (!is_axis && name.text != "t") return true;
    report(DiagnosticKind::reserved_name, name.where,
           fmt::format("{} cannot be called `{}`, like {}", what, name.text,
                       is_axis ? "the axis" : "the time level"));
    return false;
}

Value Evaluator::column_of(const syntax::Member& node, const Value& row, SourceRange where) {
    if (row.is_poison()) return Value();
    const ir::Table& table = program_[row.table];
    std::vector<std::string> names;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        if (table.columns[i].name == node.member.text) {
            return arithmetic_.leaf(table.columns[i].type, ir::TableColumn{row.table, static_cast<int>(i)},
                                    false, where);
        }
        names.push_back(table.columns[i].name);
    }
    if (symbols_.is_unread(table.name)) return Value();
    Diagnostic& diagnostic =
        report(DiagnosticKind::unknown_column, node.member.where,
               fmt::format("the table `{}` has no column `{}`", table.name, node.member.text));
    diagnostic.note(fmt::format("it has {}", fmt::join(names, ", ")));
    if (std::optional<std::string> likely = closest_name(node.member.text, names))
        diagnostic.mend(node.member.where, *likely);
    return Value();
}

// ---- fast
// --------------------------------------------------------------------------------------------------

void Evaluator::declare_fast() {
    for (const syntax::StencilStatement& statement : symbols_.stencil().statements) {
        const auto* declaration = std::get_if<syntax::FastDecl>(&statement);
        if (!declaration) continue;
        for (const syntax::Name& name : declaration->functions) {
            const bool is_known = std::find(std::begin(kFastFunctions), std::end(kFastFunctions),
                                            name.text) != std::end(kFastFunctions);
            if (!is_known) {
                report_unknown(
                    DiagnosticKind::unknown_function, name.text, name.where,
                    fmt::format("`{}` has no fast form; {} have", name.text, fmt::join(kFastFunctions, ", ")),
                    {std::begin(kFastFunctions), std::end(kFastFunctions)});
                continue;
            }
            fast_.push_back(find_builtin(name.text)->function);
        }
    }
}

}  // namespace halo::sema
