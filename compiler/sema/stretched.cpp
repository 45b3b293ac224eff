// Axes whose cells are not equally far apart: `spacing x = dx` of a field over x, `spacing z = 0.01
// * 1.05^idx(z)`.
//
// Weights of differences and positions are read from tables along the axis (ir/stretched_axis.h):
//
//   d(u, x)        sum over the points but one, e, of w[r] * (u[x+r] - u[x+e])
//
// e is the cell itself, or the point nearest to where the difference is taken. So it is 0, exactly, of what
// is everywhere the same. The other differences are alike; interpolate(u, x) adds the value at e.
//
// A neighbour's weight is no neighbour's element: cells past a face have weights, too. It has a table of its
// own.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/analysis.h"
#include "compiler/sema/evaluator.h"
#include "compiler/sema/stencil_analyzer.h"

namespace halo::sema {

using ir::BinaryOp;
using ir::BoundaryKind;

namespace {

ir::StretchedAxis* find_stretched(ir::Program& program, int axis) {
    const auto found = std::ranges::find(program.stretched, axis, &ir::StretchedAxis::axis);
    return found == program.stretched.end() ? nullptr : &*found;
}

bool varies_along_axis(const ir::Program& formula, const Value& value) {
    return std::ranges::any_of(ir::reached_exprs(formula, {value.id}), [&](std::uint32_t i) {
        return std::holds_alternative<ir::Coordinate>(formula.exprs[i].node) &&
               !ir::is_uniform_leaf(formula.exprs[i]);
    });
}

// Whether the value is made of the index along the axis alone; reported otherwise.
bool is_of_index(const ir::Program& formula, const Value& value, int axis, SourceRange where,
                 DiagnosticSink& sink) {
    const std::string& name = formula.axes[static_cast<std::size_t>(axis)].name;
    for (const std::uint32_t i : ir::reached_exprs(formula, {value.id})) {
        const ir::Expr& expr = formula.exprs[i];
        const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node);
        const bool is_index = coordinate && coordinate->kind == ir::CoordinateKind::index;
        const bool is_noise = std::holds_alternative<ir::Noise>(expr.node);
        const bool is_other =
            coordinate && !ir::is_uniform_leaf(expr) && (!is_index || coordinate->axis != axis);
        if (!is_noise && !is_other) continue;
        sink.report(
                DiagnosticKind::misused_name, where,
                fmt::format(
                    "the spacing of `{0}` is made of the index `idx({0})`, and here it is made of {1}", name,
                    is_noise   ? "noise"
                    : is_index ? fmt::format("that along `{}`",
                                             formula.axes[static_cast<std::size_t>(coordinate->axis)].name)
                               : "positions, which follow from it"))
            .note("numbers, params, `len` and the index along the axis itself can be in it");
        return false;
    }
    return true;
}

}  // namespace

bool Evaluator::is_stretched(int axis) const {
    return std::ranges::find(program_.stretched, axis, &ir::StretchedAxis::axis) != program_.stretched.end();
}

bool Evaluator::declare_stretched(const syntax::AxisValue& given, int axis) {
    ir::StretchedAxis stretched;
    stretched.axis = axis;
    const auto* name = std::get_if<syntax::NameUse>(&file_[given.value].node);
    const Symbol* const symbol = name ? symbols_.find(name->name) : nullptr;
    if (symbol && symbol->kind == Symbol::Kind::field) {
        stretched.field = symbol->name;
        program_.stretched.push_back(std::move(stretched));
        return true;
    }
    auto formula = std::make_shared<ir::Program>();
    DiagnosticSink unheard;  // what is wrong with a number is said where it is read as one
    Evaluator of_cell(file_, symbols_, Place::init, *formula, ir::Scalar::f64, unheard);
    of_cell.declare_params();
    of_cell.declare_coefs();
    for (const std::string& each : symbols_.axes()) {
        Arithmetic& numbers = of_cell.arithmetic();
        const ir::ExprId one = numbers.as_uniform(Value::of(Rational(1)), given.axis.where);
        formula->axes.push_back(
            {each, one, numbers.as_uniform(Value::of(Rational(0)), given.axis.where), {}});
    }
    const SourceRange where = this->where(given.value);
    const Value value = of_cell.quantity(given.value);
    if (!value.is_expr() || value.has_parts() || !varies_along_axis(*formula, value)) return false;
    program_.stretched.push_back(stretched);
    if (!is_of_index(*formula, value, axis, where, sink_)) return true;
    ir::Field distance;
    distance.name = "distance";
    distance.type = ir::Scalar::f64;
    distance.storage = ir::Storage::f64;
    distance.role = ir::Role::output;
    distance.where = where;
    ir::Assign assign;
    assign.value = of_cell.arithmetic().as(value, ir::Scalar::f64, where);
    assign.where = where;
    formula->name = "spacing of " + given.axis.text;
    formula->fields.push_back(std::move(distance));
    formula->statements.emplace_back(assign);
    program_.stretched.back().formula = std::move(formula);
    return true;
}

Value Evaluator::axis_table(int axis, const ir::AxisTable& holds, ir::Scalar type, SourceRange where) {
    ir::StretchedAxis& stretched = *find_stretched(program_, axis);
    ir::FieldId id{static_cast<std::uint32_t>(program_.fields.size())};
    for (const ir::StretchedAxis::Table& table : stretched.tables) {
        if (table.holds != holds) continue;
        const auto field = std::ranges::find(program_.fields, table.field, &ir::Field::name);
        if (field->type == type) id.index = static_cast<std::uint32_t>(field - program_.fields.begin());
    }
    if (id.index == program_.fields.size()) {
        ir::Field field;
        field.name = fmt::format("{}..{}{}", symbols_.axes()[static_cast<std::size_t>(axis)],
                                 holds.cells.empty() ? "position" : "weight", stretched.tables.size());
        field.type = type;
        field.storage = ir::natural_storage(field.type);
        for (int other = 0; other < symbols_.rank(); ++other)
            field.grid.along[static_cast<std::size_t>(other)] = other == axis;
        field.where = where;
        stretched.tables.push_back({field.name, holds});
        program_.fields.push_back(std::move(field));
        if (is_of_stencil_) {
            FieldInfo info;
            info.symbol = symbols_.find(symbols_.axes()[static_cast<std::size_t>(axis)]);
            fields_.push_back(std::move(info));
        }
    }
    return arithmetic_.leaf(program_[id].type, ir::Access{id, 0, {}}, false, where);
}

std::optional<ir::ExprId> Evaluator::moved_table(const ir::Access& access, const ir::Offset& offset,
                                                 SourceRange where) {
    for (const ir::StretchedAxis& stretched : program_.stretched) {
        const auto found = std::ranges::find(stretched.tables, program_[access.field].name,
                                             &ir::StretchedAxis::Table::field);
        if (found == stretched.tables.end()) continue;
        ir::AxisTable holds = found->holds;
        holds.shift += offset[static_cast<std::size_t>(stretched.axis)];
        return axis_table(stretched.axis, holds, program_[access.field].type, where).id;
    }
    return std::nullopt;
}

Value Evaluator::stretched_position(int axis, SourceRange where) {
    if (place_ == Place::ghost) {
        report(
            DiagnosticKind::not_built_yet, where,
            fmt::format("`pos({0})` in a boundary is not built yet where the spacing of `{0}` differs from "
                        "cell to cell",
                        symbols_.axes()[static_cast<std::size_t>(axis)]))
            .note("`idx` can be in a boundary");
        return Value();
    }
    ir::AxisTable holds;
    holds.at_half = (wanted_ & axis_bit(axis)) != 0;
    Value value = axis_table(axis, holds, arithmetic_.compute_type(), where);
    if (value.is_expr()) value.position = Position{}.moved_to(axis, holds.at_half);
    return value;
}

Value Evaluator::stretched_difference(const Value& operand, const StretchedDifference& form,
                                      SourceRange where) {
    ir::AxisTable holds;
    holds.at_half = form.to_half;
    holds.derivative = form.derivative;
    holds.cells = form.cells;
    holds.cells_at_half = form.is_staggered != form.to_half;
    const auto value_at = [&](int cell) {
        Value value = shifted(operand, form.axis, cell, where);
        if (form.is_staggered) value.position = value.position.moved_to(form.axis, form.to_half);
        return value;
    };
    const ir::Scalar type = ir::is_real(operand.type) ? operand.type : arithmetic_.compute_type();
    const Value base = value_at(form.cells[static_cast<std::size_t>(form.nearest)]);
    std::optional<Value> sum;
    if (form.derivative == 0) sum = base;
    for (int node = 0; node < static_cast<int>(form.cells.size()); ++node) {
        if (node == form.nearest) continue;
        holds.node = node;
        const Value value = value_at(form.cells[static_cast<std::size_t>(node)]);
        const Value change = arithmetic_.generated(BinaryOp::sub, value, base, where);
        sum = add_term(sum, axis_table(form.axis, holds, type, where), change, where);
        if (sum->is_poison()) return Value();
    }
    return *sum;
}

Value Evaluator::stretched_pairs(const Value& operand, const Pairs& pairs, std::int64_t accuracy,
                                 SourceRange where) {
    const int order = static_cast<int>(accuracy);
    StretchedDifference form{pairs.axis, pairs.derivative, {}, 0, pairs.is_staggered, pairs.to_half};
    const int radius = pairs.is_staggered ? ir::staggered_radius(pairs.derivative, order)
                                          : ir::centred_radius(pairs.derivative, order);
    // Half a cell up the cell's own point is the first below; from a whole point that is the one before.
    const int first = -radius + (pairs.is_staggered && pairs.to_half ? 1 : 0);
    const int count = 2 * radius + (pairs.is_staggered ? 0 : 1);
    for (int i = 0; i < count; ++i)
        form.cells.push_back(first + i);
    form.nearest = pairs.is_staggered ? radius - 1 : radius;
    return stretched_difference(operand, form, where);
}

// ---- what a stencil with such an axis can have

namespace {

bool is_of_stretched(const ir::StretchedAxis& stretched, const ir::Field& field) {
    return field.name == stretched.field ||
           std::ranges::find(stretched.tables, field.name, &ir::StretchedAxis::Table::field) !=
               stretched.tables.end();
}

}  // namespace

const ir::AxisTable* StencilAnalyzer::axis_table(ir::FieldId field) const {
    for (const ir::StretchedAxis& stretched : program_.stretched)
        for (const ir::StretchedAxis::Table& table : stretched.tables)
            if (table.field == program_[field].name) return &table.holds;
    return nullptr;
}

// The boundaries of fields and lets say whether the axis is periodic.
void StencilAnalyzer::find_periodic_axes() {
    for (ir::StretchedAxis& stretched : program_.stretched) {
        const auto axis = static_cast<std::size_t>(stretched.axis);
        stretched.is_periodic = std::ranges::any_of(program_.fields, [&](const ir::Field& field) {
            return !is_of_stretched(stretched, field) && field.halo[axis] != std::array<int, 2>{} &&
                   field.boundary[axis].front().kind == BoundaryKind::periodic;
        });
    }
}

void StencilAnalyzer::check_distances(const ir::StretchedAxis& stretched) {
    const std::string& axis = symbols_.axes()[static_cast<std::size_t>(stretched.axis)];
    const auto field = std::ranges::find(program_.fields, stretched.field, &ir::Field::name);
    bool fits = field != program_.fields.end() && ir::is_real(field->type);
    for (int other = 0; fits && other < symbols_.rank(); ++other)
        fits = field->grid.has(other) == (other == stretched.axis) && !field->staggered[other];
    if (fits) return;
    const Symbol& symbol = *symbols_.find(stretched.field);
    sink_
        .report(DiagnosticKind::missing_axis, evaluator_.spacing_where(stretched.axis),
                fmt::format("a spacing is a number for each cell along `{}`, and `{}` is not", axis,
                            stretched.field))
        .label(symbol.where, "declared here")
        .note(fmt::format("`field {}: f64 over {}` is", stretched.field, axis));
}

void StencilAnalyzer::check_stretched_axes() {
    find_periodic_axes();
    for (const ir::StretchedAxis& stretched : program_.stretched) {
        if (!stretched.field.empty()) check_distances(stretched);
        const std::string& axis = symbols_.axes()[static_cast<std::size_t>(stretched.axis)];
        const auto refuse = [&](SourceRange where, const std::string& what, const std::string& mend) {
            sink_
                .report(DiagnosticKind::not_built_yet, where,
                        fmt::format("{} not built yet where the spacing of `{}` differs from cell to cell",
                                    what, axis))
                .label(evaluator_.spacing_where(stretched.axis), "given here")
                .note(mend);
        };
        if (!program_.points.empty())
            refuse(program_.points.front().where, "points off the grid are",
                   "a spacing that is a number has them");
        for (const ir::Field& field : program_.fields)
            if (field.name == stretched.field && field.role != ir::Role::input)
                refuse(field.where, fmt::format("assigning `{}` is", field.name),
                       fmt::format("`init {0} = …` or `load {0} from \"…\"` gives it values", field.name));
        for (const ir::Field& field : program_.fields)
            if (field.grid.factor != 1)
                return refuse(field.where, "a coarser grid is", "a spacing that is a number has them");
        for (std::size_t f = 0; f < program_.fields.size(); ++f)
            check_faces_along(stretched, f, refuse);
    }
}

void StencilAnalyzer::check_faces_along(const ir::StretchedAxis& stretched, std::size_t index,
                                        const Refusal& refuse) {
    const ir::Field& field = program_.fields[index];
    if (is_of_stretched(stretched, field)) return;
    for (std::size_t side = 0; side < 2; ++side) {
        const auto axis = static_cast<std::size_t>(stretched.axis);
        if (field.halo[axis][side] == 0) continue;
        const std::optional<GhostRule>& rule = evaluator_.fields()[index].ghosts[axis][side];
        if (rule && (rule->kind == GhostKind::gradient || rule->kind == GhostKind::robin))
            return refuse(rule->where, "a slope past a face is", "`mirror` is the slope 0");
        if (rule && rule->kind == GhostKind::extrapolate && rule->degree > 0)
            return refuse(rule->where, "`extrapolate` of degree 1 and more is", "`clamp` is `extrapolate 0`");
        const BoundaryKind kind = field.boundary[axis][side].kind;
        if (kind == BoundaryKind::free || (kind == BoundaryKind::periodic) == stretched.is_periodic) continue;
        return refuse(field.where,
                      fmt::format("fields of which some are periodic along `{}` and others not are",
                                  symbols_.axes()[axis]),
                      fmt::format("`{}` has another boundary there than fields before it", field.name));
    }
}

}  // namespace halo::sema
