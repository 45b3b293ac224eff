// Several grids: which one a statement computes on, and which cells of another it reads.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/ir/grids.h"
#include "compiler/sema/evaluator.h"
#include "compiler/sema/stencil_analyzer.h"

namespace halo::sema {

namespace {

constexpr std::int64_t kMostCoarse = 1 << 16;

std::string grid_text(int factor) {
    return factor == 1 ? "the grid itself" : fmt::format("coarse({})", factor);
}

// `2*x, 2*y` of a field that is so much finer, `x/2, y/2` of one that is so much coarser.
std::string cells_text(const ir::GridMap& map, const std::vector<std::string>& axes) {
    std::string text;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const auto [times, over] = map[axis];
        if (times == over) continue;
        text += text.empty() ? "" : ", ";
        text += times > 1 ? fmt::format("{}*{}", times, axes[axis]) : fmt::format("{}/{}", axes[axis], over);
    }
    return text;
}

}  // namespace

int Evaluator::coarseness(const std::optional<syntax::ExprId>& factor) {
    if (!factor) return 1;
    const auto known = integer(*factor, "the factor of a coarser grid", 1, kMostCoarse);
    has_coarse_ = has_coarse_ || (known && *known > 1);
    return static_cast<int>(known.value_or(1));
}

Value Evaluator::width_of_cells(int grid, int axis, SourceRange where) {
    uses_spacing_ = true;
    if (grid == 1) return spacing_[static_cast<std::size_t>(axis)];
    return arithmetic_.binary(BinaryOp::mul, Value::of(Rational(grid)),
                              spacing_[static_cast<std::size_t>(axis)], where);
}

// The grid along whose cells an expression is derived: that of the statement, or another one that the
// derivative is then read of, as in `d(e, x)[x/2]`. Nothing where its parts lie on several, which is
// reported.
std::optional<int> Evaluator::grid_of_operand(const Value& operand, int axis, SourceRange where) {
    if (!has_coarse_ || !operand.is_expr()) return grid_;
    std::optional<int> found;
    for (const std::uint32_t i : ir::reached_exprs(program_, {operand.id})) {
        const auto* access = std::get_if<ir::Access>(&program_.exprs[i].node);
        if (access == nullptr || !program_[access->field].grid.has(axis)) continue;
        const auto [times, over] = access->map[static_cast<std::size_t>(axis)];
        const int own = program_[access->field].grid.factor * times / over;
        if (found && *found != own) {
            report(DiagnosticKind::other_grid, where,
                   fmt::format("this derives what lies on {} and on {} along `{}`", grid_text(*found),
                               grid_text(own), symbols_.axes()[static_cast<std::size_t>(axis)]))
                .note("the cells of the one are read from the other first, as in `2*x` or `x/2`");
            return std::nullopt;
        }
        found = own;
    }
    return found.value_or(grid_);
}

// A cell of a coarser grid is a block of the grid's: its coordinate is that of the block's middle.
Value Evaluator::coarse_coordinate(ir::CoordinateKind kind, int axis, SourceRange where) {
    const bool is_length = kind == ir::CoordinateKind::extent;
    const Value index = arithmetic_.leaf(is_length ? ir::Scalar::f64 : arithmetic_.compute_type(),
                                         ir::Coordinate{is_length ? kind : ir::CoordinateKind::index, axis},
                                         is_length, where);
    if (kind != ir::CoordinateKind::position) {
        Value whole = index;
        whole.whole = true;
        return is_length ? arithmetic_.floor_div(whole, Value::of(Rational(grid_)), where) : whole;
    }
    const ir::ExprId origin = program_.axes[static_cast<std::size_t>(axis)].origin;
    const auto* known = std::get_if<ir::Constant>(&program_[origin].node);
    const Value zero = known ? Value::of(known->value) : Value::of(origin, ir::Scalar::f64, true);
    const Value middle = arithmetic_.binary(BinaryOp::mul, Value::of(Rational(grid_ - 1, 2)),
                                            spacing_[static_cast<std::size_t>(axis)], where);
    const Value first = arithmetic_.binary(BinaryOp::add, zero, middle, where);
    const Value distance =
        arithmetic_.binary(BinaryOp::mul, index, width_of_cells(grid_, axis, where), where);
    return arithmetic_.binary(BinaryOp::add, distance, first, where);
}

// ---- cells of another grid, as subscripts name them

// Whether a subscript computes with an axis: `2*x+1`, `(x+1)/2`.
bool Evaluator::names_other_grid(syntax::ExprId id) const {
    const auto& node = file_[id].node;
    if (const auto* sign = std::get_if<syntax::UnaryExpr>(&node)) return names_other_grid(sign->operand);
    const auto* operation = std::get_if<syntax::BinaryExpr>(&node);
    if (operation == nullptr) return false;
    const bool scales =
        operation->kind == syntax::BinaryKind::multiply || operation->kind == syntax::BinaryKind::divide;
    if (scales && axis_within(id)) return true;
    return names_other_grid(operation->left) || names_other_grid(operation->right);
}

void Evaluator::refuse_grid_subscript(syntax::ExprId id, const std::string& axis) {
    report(DiagnosticKind::invalid_offset, where(id),
           fmt::format("this names no cell along `{}`, neither of this grid nor of another", axis))
        .note(fmt::format("an offset is `{0}`, `{0}+1`, `{0}-2` …: the same distance for every cell", axis))
        .note(fmt::format("of a grid twice as fine a cell is `2*{0}` or `2*{0}+1`, of one twice as coarse "
                          "`{0}/2` or `({0}+1)/2`, which are rounded down",
                          axis));
}

std::optional<Evaluator::GridPlace> Evaluator::grid_place(syntax::ExprId id) {
    const syntax::Expr& expr = file_[id];
    if (const auto* use = std::get_if<syntax::NameUse>(&expr.node))
        if (const std::optional<int> axis = find_axis(use->name)) return GridPlace{*axis, {}};
    const auto refuse = [&]() -> std::optional<GridPlace> {
        refuse_grid_subscript(id, axis_within(id).value_or("x"));
        return std::nullopt;
    };
    const auto* operation = std::get_if<syntax::BinaryExpr>(&expr.node);
    if (operation == nullptr) return refuse();
    const bool is_left = axis_within(operation->left).has_value();
    if (is_left && axis_within(operation->right)) return refuse();
    const auto inner = grid_place(is_left ? operation->left : operation->right);
    if (!inner) return std::nullopt;
    const syntax::ExprId other = is_left ? operation->right : operation->left;
    const std::optional<Rational> exact = rational(other, "a cell of another grid");
    if (!exact) return std::nullopt;
    const std::optional<std::int64_t> number = exact->as_int64();
    if (!number || std::abs(*number) > kMaxOffset) return refuse();
    const int by = static_cast<int>(*number);
    ir::AxisPlace outer;
    switch (operation->kind) {
        case syntax::BinaryKind::add:
            outer.offset = by;
            break;
        case syntax::BinaryKind::subtract:
            if (!is_left) return refuse();
            outer.offset = -by;
            break;
        case syntax::BinaryKind::multiply:
            if (by < 1) return refuse();
            outer.map.times = by;
            break;
        case syntax::BinaryKind::divide:
            if (!is_left || by < 1) return refuse();
            outer.map.over = by;
            break;
        default:
            return refuse();
    }
    const std::optional<ir::AxisPlace> place = ir::composed(outer, inner->place);
    if (!place || std::abs(place->offset) > kMaxOffset) return refuse();
    return GridPlace{inner->axis, *place};
}

// ---- what a statement reads

// Reports the first read of a field whose cells are not those of the statement, or not said along each axis.
bool Evaluator::check_grid(const Value& value, int factor, SourceRange where) {
    if (value.has_parts())
        return std::all_of(value.parts.begin(), value.parts.end(),
                           [&](const Value& part) { return check_grid(part, factor, where); });
    if (!value.is_expr() || !has_coarse_) return true;
    bool sums = false, is_coarse = factor != 1;
    for (const std::uint32_t i : ir::reached_exprs(program_, {value.id})) {
        sums = sums || std::holds_alternative<ir::TableSum>(program_.exprs[i].node);
        const auto* access = std::get_if<ir::Access>(&program_.exprs[i].node);
        if (access == nullptr) continue;
        is_coarse = is_coarse || access->is_mapped();
        const ir::Field& field = program_[access->field];
        const std::optional<ir::GridMap> wanted = ir::map_of_reads(program_, factor, field);
        if (wanted == access->map) continue;
        const SourceRange place = program_.exprs[i].where.end != 0 ? program_.exprs[i].where : where;
        const std::string& name = field.name;
        const bool is_own = field.grid.factor == factor;
        Diagnostic& diagnostic = report(
            DiagnosticKind::other_grid, place,
            is_own
                ? fmt::format("`{}` lies on the grid that is computed, and this names cells of another", name)
                : fmt::format("`{}` lies on {}, and this is computed on {}", name,
                              grid_text(field.grid.factor), grid_text(factor)));
        diagnostic.label(fields_[access->field.index].symbol->where, "declared here");
        if (!wanted) {
            diagnostic.note("neither grid is made of whole cells of the other: compute it in two steps");
        } else if (*wanted == ir::GridMap{}) {
            diagnostic.note(fmt::format("its cells are those that are computed: `{0}`, `{0}[{1}+1]`", name,
                                        symbols_.axes().front()));
        } else {
            const std::string cells = cells_text(*wanted, symbols_.axes());
            diagnostic.note(fmt::format("which of its cells is meant is said along each axis, as in `{}[{}]`",
                                        name, cells));
        }
        return false;
    }
    if (!sums || !is_coarse) return true;
    report(DiagnosticKind::not_built_yet, where,
           "a sum over a table is not built yet on a coarser grid, nor beside reads of one")
        .note("give the sum a name on the grid itself before: `let total = sum(…) …`");
    return false;
}

// What a let that is a name for coordinates is made of is known on its own grid alone.
bool Evaluator::check_let_grid(const Symbol& symbol, const Value& value, SourceRange where) {
    if (!has_coarse_ || value.is_uniform()) return true;
    const auto own = let_grids_.find(symbol.index);
    if (own == let_grids_.end() || own->second == grid_) return true;
    std::vector<ir::ExprId> roots;
    const auto add_roots = [&](const auto& self, const Value& part) -> void {
        for (const Value& each : part.parts)
            self(self, each);
        if (part.is_expr()) roots.push_back(part.id);
    };
    add_roots(add_roots, value);
    const std::vector<std::uint32_t> reached = ir::reached_exprs(program_, roots);
    const bool has_place = std::ranges::any_of(reached, [&](std::uint32_t i) {
        const ir::Expr& expr = program_.exprs[i];
        return std::holds_alternative<ir::Coordinate>(expr.node) && !ir::is_uniform_leaf(expr);
    });
    if (!has_place) return true;
    report(DiagnosticKind::other_grid, where,
           fmt::format("`{}` is made of the places of cells of {}, and this is computed on {}", symbol.name,
                       grid_text(own->second), grid_text(grid_)))
        .label(symbol.where, "declared here")
        .note("write it as a `def`, which is computed where it is called");
    return false;
}

// What is read of another grid has a value in each cell, also past the faces that it is read past.
void StencilAnalyzer::check_reads_of_grids() {
    if (!ir::has_coarse_grids(program_)) return;
    std::vector<bool> has_margins(program_.fields.size());
    for (const ir::Statement& statement : program_.statements)
        if (const auto* assign = std::get_if<ir::Assign>(&statement);
            assign != nullptr && assign->time == 0 && assign->margins != ir::Margins{})
            has_margins[assign->target.index] = true;
    std::set<std::uint32_t> reported;
    for (const ir::Statement& statement : program_.statements) {
        for (const std::uint32_t i : ir::reached_exprs(program_, ir::roots_of(statement))) {
            const auto* access = std::get_if<ir::Access>(&program_.exprs[i].node);
            if (access == nullptr || !access->is_mapped()) continue;
            const ir::Field& field = program_[access->field];
            std::string past;
            for (int axis = 0; axis < symbols_.rank() && past.empty(); ++axis)
                for (int side = 0; side < 2 && past.empty(); ++side)
                    if (ir::past_faces(*access, axis)[static_cast<std::size_t>(side)] > 0 &&
                        field.boundary[static_cast<std::size_t>(axis)][static_cast<std::size_t>(side)].kind ==
                            ir::BoundaryKind::free)
                        past =
                            symbols_.axes()[static_cast<std::size_t>(axis)] + (side == 0 ? ".low" : ".high");
            if (past.empty() && !has_margins[access->field.index]) continue;
            if (!reported.insert(access->field.index).second) continue;
            const SourceRange where = program_.exprs[i].where;
            Diagnostic& diagnostic =
                past.empty()
                    ? sink_.report(
                          DiagnosticKind::boundary_needed, where,
                          fmt::format("`{}` is read on another grid, and has no value in all of its cells",
                                      field.name))
                    : sink_.report(
                          DiagnosticKind::boundary_needed, where,
                          fmt::format(
                              "`{}` is read past the face {} on some grids, where it needs a boundary",
                              field.name, past));
            diagnostic.label(evaluator_.fields()[access->field.index].symbol->where, "declared here");
            diagnostic.note(past.empty()
                                ? "cells at a free face have none: give what it is made of a boundary"
                                : "a grid that is no multiple of the factor ends between two coarse cells");
        }
    }
}

}  // namespace halo::sema
