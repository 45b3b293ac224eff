#include "compiler/lower/shared/table_sums.h"

#include <algorithm>
#include <set>

namespace halo::lower {

namespace {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

std::vector<ir::ExprId> values_of(const StageView& stage) {
    std::vector<ir::ExprId> values;
    for (int index : stage.stage.statements) {
        for (const ir::ExprId root : ir::roots_of(stage.program->statements[static_cast<std::size_t>(index)]))
            values.push_back(root);
    }
    return values;
}

void append_exprs(std::vector<ir::ExprId>& all, const std::vector<ir::ExprId>& more) {
    all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

std::vector<std::string> summed_tables(const StageView& stage) {
    std::vector<std::string> names;
    if (stage.program->tables.empty()) return names;
    const std::vector<bool> needed = ir::reachable_exprs(*stage.program, values_of(stage));
    for (std::size_t e = 0; e < needed.size(); ++e) {
        const auto* sum = std::get_if<ir::TableSum>(&stage.program->exprs[e].node);
        if (!needed[e] || !sum) continue;
        const std::string& name = (*stage.program)[sum->table].name;
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
}

bool has_table_sums(const StageView& stage) {
    return !summed_tables(stage).empty();
}

std::vector<std::string> table_roles() {
    return {"cell", "cells", "first", "rows", "strip", "begin", "end", "block"};
}

int padded_width(int columns, Type type) {
    if (columns <= 2) return columns;
    const int vector = type == Type::f64 ? 2 : 4;
    return (columns + vector - 1) / vector * vector;
}

TableShape table_shape(const ir::Table& table) {
    TableShape shape;
    for (const ir::Table::Column& column : table.columns) {
        if (column.type == ir::Scalar::f64) shape.type = Type::f64;
    }
    shape.width = padded_width(static_cast<int>(table.columns.size()), shape.type);
    return shape;
}

TableSums::TableSums(Context& context, Expr cells, Expr cell)
    : context_(context), cells_(std::move(cells)), cell_(std::move(cell)) {
    single_ = kernel::int_value(cells_) == 1;
    find_passes();
}

void TableSums::find_passes() {
    const ir::Program& program = context_.program();
    const std::size_t n = program.exprs.size();
    reads_row_.resize(n);
    along_cells_.resize(n);
    const std::vector<bool> needed = ir::reachable_exprs(program, values_of(context_.stage()));
    for (std::size_t e = 0; e < n; ++e) {
        const ir::Expr& expr = program.exprs[e];
        const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node);
        bool row = std::holds_alternative<ir::TableColumn>(expr.node);
        const auto* access = std::get_if<ir::Access>(&expr.node);
        bool along = (access && program[access->field].grid.has(0)) ||
                     std::holds_alternative<ir::Noise>(expr.node) || (coordinate && coordinate->axis == 0);
        ir::for_each_operand(expr, [&](ir::ExprId operand) {
            row = row || reads_row_[operand.index];
            along = along || along_cells_[operand.index];
        });
        const auto* sum = std::get_if<ir::TableSum>(&expr.node);
        reads_row_[e] = row && !sum;
        along_cells_[e] = (along || sum) && !context_.is_uniform({static_cast<std::uint32_t>(e)});
        if (!sum || !needed[e]) continue;
        auto pass = std::find_if(passes_.begin(), passes_.end(),
                                 [&](const TablePass& known) { return known.table == sum->table; });
        if (pass == passes_.end())
            pass = passes_.insert(passes_.end(), TablePass{sum->table, {}, {}, {}, {}, {}});
        pass->sums.push_back({static_cast<std::uint32_t>(e)});
    }
    for (TablePass& pass : passes_) {
        std::vector<ir::ExprId> terms;
        for (ir::ExprId sum : pass.sums)
            append_exprs(terms, ir::operands(program[sum]));
        const std::vector<bool> in_terms = ir::reachable_exprs(program, terms);
        // Values that the work of a row and cell, or of a row, takes from outside of it.
        std::set<std::uint32_t> of_thread, of_cell, of_row;
        const auto take = [&](ir::ExprId id, bool by_cell_work) {
            const ir::Expr& expr = program[id];
            if (context_.is_uniform(id) || std::holds_alternative<ir::CoefElement>(expr.node)) return;
            if (!reads_row_[id.index]) {
                (along_cells_[id.index] ? of_cell : of_thread).insert(id.index);
            } else if (by_cell_work && !along_cells_[id.index] &&
                       !std::holds_alternative<ir::TableColumn>(expr.node)) {
                of_row.insert(id.index);
            }
        };
        for (ir::ExprId term : terms)
            take(term, true);
        for (std::size_t e = 0; e < n; ++e) {
            if (!in_terms[e] || !reads_row_[e]) continue;
            const bool by_cell_work = along_cells_[e];
            ir::for_each_operand(program.exprs[e], [&](ir::ExprId operand) { take(operand, by_cell_work); });
            if (const auto* column = std::get_if<ir::TableColumn>(&program.exprs[e].node))
                pass.columns.push_back(column->column);
        }
        std::sort(pass.columns.begin(), pass.columns.end());
        const auto ids = [](const std::set<std::uint32_t>& from) {
            std::vector<ir::ExprId> to;
            for (std::uint32_t index : from)
                to.push_back({index});
            return to;
        };
        pass.of_thread = ids(of_thread);
        pass.of_cell = ids(of_cell);
        pass.of_row = ids(of_row);
    }
}

Expr TableSums::place(const Slot& slot) const {
    return single_ ? kernel::variable(slot.name, slot.type) : kernel::element(slot.name, {cell_}, slot.type);
}

// pos_x, u_here; sums and other values by what they are.
std::string TableSums::wanted_name(ir::ExprId id) const {
    const ir::Expr& expr = context_.program()[id];
    if (const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node)) {
        const char* prefix = coordinate->kind == ir::CoordinateKind::index ? "idx_" : "pos_";
        return prefix + context_.program().axes[static_cast<std::size_t>(coordinate->axis)].name;
    }
    if (const auto* access = std::get_if<ir::Access>(&expr.node))
        return context_.program()[access->field].name + "_here";
    if (const auto* sum = std::get_if<ir::TableSum>(&expr.node))
        return "sum_over_" + context_.program()[sum->table].name;
    return reads_row_[id.index] ? "of_row" : "of_cell";
}

CellSources TableSums::with(CellSources sources, const std::map<std::uint32_t, Expr>& more) const {
    sources.given = [this, more, outer = sources.given](ir::ExprId id) -> Expr {
        if (const auto known = more.find(id.index); known != more.end()) return known->second;
        if (const auto known = thread_.find(id.index); known != thread_.end()) return known->second;
        if (const auto known = slots_.find(id.index); known != slots_.end()) return place(known->second);
        return outer ? outer(id) : Expr();
    };
    return sources;
}

void TableSums::thread_values(const CellSources& sources, Block& body) {
    for (const TablePass& pass : passes_) {
        for (ir::ExprId id : pass.of_thread) {
            if (thread_.contains(id.index)) continue;
            const Expr value = lower_value(context_, with(sources, {}), id, wanted_name(id), body);
            thread_.emplace(id.index, value);
        }
    }
}

void TableSums::declare_arrays(Block& body) {
    for (const TablePass& pass : passes_) {
        for (const auto* ids : {&pass.of_cell, &pass.sums}) {
            for (ir::ExprId id : *ids) {
                if (slots_.contains(id.index)) continue;
                const Slot slot{context_.names().take(wanted_name(id)),
                                kernel_type(context_.program()[id].type)};
                slots_.emplace(id.index, slot);
                if (!single_) body.push_back(kernel::DeclareArray{slot.type, slot.name, {cells_}});
            }
        }
    }
}

Block TableSums::begin_cell(const CellSources& sources) {
    Block body;
    const std::map<std::uint32_t, Slot> slots = std::exchange(slots_, {});
    for (const TablePass& pass : passes_) {
        for (ir::ExprId id : pass.of_cell) {
            if (slots_.contains(id.index)) continue;
            const Slot& slot = slots.at(id.index);
            Block before;
            const Expr value = lower_inline(context_, with(sources, {}), id, before);
            if (single_) {
                declare_values({{slot.name, value}}, std::move(before), body);
            } else {
                before.push_back(kernel::Assign{place(slot), value});
                if (before.size() == 1) {
                    body.push_back(std::move(before.front()));
                } else {
                    body.push_back(kernel::Scope{std::move(before)});
                }
            }
            slots_.emplace(id.index, slot);
        }
    }
    for (const TablePass& pass : passes_) {
        for (ir::ExprId id : pass.sums) {
            const Slot& slot = slots.at(id.index);
            const Expr zero = kernel::real_literal(0, slot.type);
            if (single_) {
                body.push_back(kernel::Declare{slot.type, slot.name, zero, true});
            } else {
                body.push_back(kernel::Assign{place(slot), zero});
            }
        }
    }
    slots_ = slots;
    return body;
}

Block TableSums::row(const TablePass& pass, const CellSources& sources,
                     const std::function<Expr(int column)>& column,
                     const std::function<kernel::Statement(Block)>& loop) {
    const ir::Program& program = context_.program();
    const ir::Table& table = program[pass.table];
    Block body;
    std::map<std::uint32_t, Expr> values;
    for (std::size_t e = 0; e < program.exprs.size(); ++e) {
        const auto* read = std::get_if<ir::TableColumn>(&program.exprs[e].node);
        if (!read || read->table != pass.table ||
            !std::count(pass.columns.begin(), pass.columns.end(), read->column))
            continue;
        const std::string name = context_.names().take(
            table.name + "_" + table.columns[static_cast<std::size_t>(read->column)].name);
        const Type type = kernel_type(program.exprs[e].type);
        body.push_back(kernel::Declare{type, name, kernel::convert(column(read->column), type)});
        values.emplace(static_cast<std::uint32_t>(e), kernel::variable(name, type));
    }
    for (ir::ExprId id : pass.of_row) {
        const Expr value = lower_value(context_, with(sources, values), id, wanted_name(id), body);
        values.emplace(id.index, value);
    }
    std::vector<ir::ExprId> terms;
    for (ir::ExprId sum : pass.sums)
        append_exprs(terms, ir::operands(program[sum]));
    Block work;
    const std::vector<Expr> lowered = lower_values(context_, with(sources, values), terms, work);
    auto term = lowered.begin();
    for (ir::ExprId id : pass.sums) {
        const Expr sum = place(slots_.at(id.index));
        const Expr& value = *term++;
        const bool fused = std::get<ir::TableSum>(program[id].node).factor.has_value();
        work.push_back(kernel::Assign{
            sum, fused ? kernel::call(kernel::Function::fma, {value, *term++, sum}) : sum + value});
    }
    if (single_) {
        for (kernel::Statement& statement : work)
            body.push_back(std::move(statement));
    } else {
        body.push_back(loop(std::move(work)));
    }
    return body;
}

CellSources TableSums::with_sums(CellSources sources) const {
    return with(std::move(sources), {});
}

}  // namespace halo::lower
