#include "compiler/ir/row_evaluator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "compiler/ir/analysis.h"
#include "compiler/ir/constants.h"
#include "compiler/ir/grids.h"
#include "compiler/ir/noise.h"
#include "compiler/ir/rounding.h"
#include "compiler/ir/row_arithmetic.h"
#include "compiler/support/error.h"
#include "runtime/core/series.h"

namespace halo::ir {

namespace {

template <class T>
T rounded(const Rational& value);
template <>
float rounded<float>(const Rational& value) {
    return value.to_float();
}
template <>
double rounded<double>(const Rational& value) {
    return value.to_double();
}

template <>
std::int32_t rounded<std::int32_t>(const Rational& value) {
    return static_cast<std::int32_t>(value.as_int64().value_or(0));
}
template <>
std::int64_t rounded<std::int64_t>(const Rational& value) {
    return value.as_int64().value_or(0);
}

template <class T>
T negated(T value) {
    if constexpr (std::is_integral_v<T>) return wrap_sub(T{0}, value);
    return -value;
}

bool reads_position(const Expr& expr) {
    const Coordinate* coordinate = std::get_if<Coordinate>(&expr.node);
    return coordinate && !is_uniform_leaf(expr);
}

}  // namespace

template <>
std::vector<float>& RowEvaluator::cells_of<float>(ExprId id) {
    return rows_[id.index].f32;
}
template <>
std::vector<double>& RowEvaluator::cells_of<double>(ExprId id) {
    return rows_[id.index].f64;
}
template <>
std::vector<std::uint8_t>& RowEvaluator::cells_of<std::uint8_t>(ExprId id) {
    return rows_[id.index].boolean;
}
template <>
std::vector<std::int32_t>& RowEvaluator::cells_of<std::int32_t>(ExprId id) {
    return rows_[id.index].i32;
}
template <>
std::vector<std::int64_t>& RowEvaluator::cells_of<std::int64_t>(ExprId id) {
    return rows_[id.index].i64;
}

RowEvaluator::RowEvaluator(const Program& program, const Extent& extent, Arithmetic arithmetic,
                           const std::vector<ExprId>& roots)
    : program_(program), extent_(extent), exact_(exact_values(program)), arithmetic_(arithmetic) {
    if (program.window.is_part() && has_coarse_grids(program))  // a row does not say of which grid it is
        throw InternalError("parts of several grids are not interpreted");
    const std::size_t n = program.exprs.size();
    std::vector<ExprId> all = roots;
    for (const Axis& axis : program.axes)
        all.insert(all.end(), {axis.spacing, axis.origin});
    for (const Field& field : program.fields) {
        for (int axis = 0; axis < program.rank(); ++axis)
            for (const Face& face : field.boundary[axis])
                if (face.kind == BoundaryKind::fixed) all.push_back(face.value);
    }
    for (const Table& table : program.tables) {
        for (const Table::Column& column : table.columns)
            if (column.value) all.push_back(*column.value);
    }
    const std::vector<bool> needed = reachable_exprs(program, all);
    type_.resize(n);
    constant_.resize(n);
    rows_.resize(n);
    readings_.resize(n);
    plans_.resize(n);
    reads_row_.resize(n);
    std::vector<bool> reduction_dependent(n);
    for (std::uint32_t i = 0; i < n; ++i) {
        const Expr& expr = program.exprs[i];
        const bool widened = arithmetic == Arithmetic::f64 && expr.type == Scalar::f32;
        type_[i] = widened ? Scalar::f64 : expr.type;
        bool constant = !std::holds_alternative<Access>(expr.node) && !reads_position(expr) &&
                        !std::holds_alternative<Noise>(expr.node) &&
                        !std::holds_alternative<TableSum>(expr.node) &&
                        !std::holds_alternative<PointColumn>(expr.node);
        bool reads_row = std::holds_alternative<TableColumn>(expr.node);
        reduction_dependent[i] = std::holds_alternative<ReductionRef>(expr.node);
        for_each_operand(expr, [&](ExprId operand) {
            constant = constant && constant_[operand.index];
            reads_row = reads_row || reads_row_[operand.index];
            if (reduction_dependent[operand.index]) reduction_dependent[i] = true;
        });
        if (std::holds_alternative<TableSum>(expr.node)) reads_row = false;
        constant = constant && !reads_row;
        constant_[i] = constant;
        reads_row_[i] = reads_row;
        if (!needed[i]) continue;
        rows_[i].resize(type_[i], kMaxCells);
        if (constant) step_constants_.push_back({i});
        if (constant && reduction_dependent[i]) of_reductions_.push_back({i});
        if (const Access* access = std::get_if<Access>(&expr.node)) prepare_reading({i}, *access);
    }
    for (ExprId root : roots) {
        plans_[root.index].clear();
        for (const std::uint32_t i : reached_exprs(program, {root}))
            if (!constant_[i] && !reads_row_[i]) plans_[root.index].push_back({i});
    }
    find_terms(needed);
}

// What a sum over a table computes for each row. The root of a computed column is a term by itself.
void RowEvaluator::find_terms(const std::vector<bool>& needed) {
    const auto add = [&](std::uint32_t id, const std::vector<ExprId>& parts) {
        std::vector<ExprId>& nodes = terms_[id];
        for (const std::uint32_t i : reached_exprs(program_, parts))
            if (reads_row_[i]) nodes.push_back({i});
    };
    for (std::uint32_t i = 0; i < needed.size(); ++i) {
        if (!needed[i]) continue;
        if (std::holds_alternative<TableSum>(program_.exprs[i].node)) add(i, operands(program_.exprs[i]));
    }
    for (const Table& table : program_.tables) {
        for (const Table::Column& column : table.columns)
            if (column.value && reads_row_[column.value->index]) add(column.value->index, {*column.value});
    }
    prepare_ghosts();
}

void RowEvaluator::begin_step(const Surroundings& surroundings) {
    surroundings_ = &surroundings;
    evaluate_constants(step_constants_);
    for (std::size_t i = 0; i < readings_.size(); ++i) {
        const Access* access = std::get_if<Access>(&program_.exprs[i].node);
        if (!access) continue;
        const std::vector<const double*>& levels = surroundings.levels[access->field.index];
        readings_[i].level = levels.at(static_cast<std::size_t>(1 - access->time));
    }
    if (ghosts_) ghosts_->begin_step(surroundings);
}

void RowEvaluator::update_reductions() {
    evaluate_constants(of_reductions_);
}

void RowEvaluator::evaluate_constants(const std::vector<ExprId>& ids) {
    first_ = {};
    for (ExprId id : ids) {
        cells_ = 1;
        evaluate_node(id);
        Row& row = rows_[id.index];
        if (!row.f32.empty()) std::fill(row.f32.begin(), row.f32.end(), row.f32.front());
        if (!row.f64.empty()) std::fill(row.f64.begin(), row.f64.end(), row.f64.front());
        if (!row.boolean.empty()) std::fill(row.boolean.begin(), row.boolean.end(), row.boolean.front());
        if (!row.i32.empty()) std::fill(row.i32.begin(), row.i32.end(), row.i32.front());
        if (!row.i64.empty()) std::fill(row.i64.begin(), row.i64.end(), row.i64.front());
    }
}

double RowEvaluator::evaluate_at_row(ExprId root, std::int64_t row) {
    cells_ = 1;
    row_ = row;
    if (reads_row_[root.index]) {
        for (ExprId id : terms_.at(root.index))
            evaluate_node(id);
    }
    return step_constant(root);
}

double RowEvaluator::step_constant(ExprId id) const {
    const Row& row = rows_[id.index];
    switch (type_[id.index]) {
        case Scalar::f32:
            return row.f32.front();
        case Scalar::i32:
            return row.i32.front();
        case Scalar::i64:
            return static_cast<double>(row.i64.front());  // uniform values are f64's (program.h)
        case Scalar::boolean:
            return row.boolean.front();
        case Scalar::f64:
            break;
    }
    return row.f64.front();
}

void RowEvaluator::evaluate(ExprId root, const Cell& first, std::int64_t cells, std::vector<double>& values) {
    first_ = first;
    cells_ = cells;
    for (ExprId id : plans_[root.index])
        evaluate_node(id);
    values.resize(static_cast<std::size_t>(cells));
    const Row& row = rows_[root.index];
    switch (type_[root.index]) {
        case Scalar::f32:
            return (void)std::copy_n(row.f32.begin(), cells, values.begin());
        case Scalar::f64:
            return (void)std::copy_n(row.f64.begin(), cells, values.begin());
        case Scalar::i32:
            return (void)std::copy_n(row.i32.begin(), cells, values.begin());
        case Scalar::boolean:
            return (void)std::copy_n(row.boolean.begin(), cells, values.begin());
        case Scalar::i64:
            for (std::int64_t i = 0; i < cells; ++i)
                values[i] = std::bit_cast<double>(row.i64[i]);
    }
}

void RowEvaluator::evaluate_node(ExprId id) {
    switch (type_[id.index]) {
        case Scalar::f32:
            return evaluate_as<float>(id);
        case Scalar::f64:
            return evaluate_as<double>(id);
        case Scalar::boolean:
            return evaluate_logic(id);
        case Scalar::i32:
            return evaluate_as<std::int32_t>(id);
        case Scalar::i64:
            return evaluate_as<std::int64_t>(id);
    }
}

template <class T>
void RowEvaluator::evaluate_as(ExprId id) {
    T* out = cells_of<T>(id).data();
    if (exact_[id.index]) return (void)std::fill_n(out, cells_, rounded<T>(*exact_[id.index]));
    std::visit([&](const auto& alternative) { node<T>(id, alternative, out); }, program_[id].node);
}

// ---- leaves
// ----------------------------------------------------------------------------------------------------

template <class T>
void RowEvaluator::node(ExprId, const Constant&, T*) {
    throw InternalError("a constant without a value");
}

template <class T>
void RowEvaluator::node(ExprId, const ParamRef& node, T* out) {
    std::fill_n(out, cells_, static_cast<T>(surroundings_->params[node.param.index]));
}

template <class T>
void RowEvaluator::node(ExprId, const CoefElement& node, T* out) {
    std::fill_n(out, cells_, static_cast<T>(surroundings_->coefs[node.coef.index][node.element]));
}

std::int64_t RowEvaluator::grid_index(int axis, std::int64_t index) const {
    const auto& along = program_.window.axes[axis];
    if (!along) return index;
    index += static_cast<std::int64_t>(surroundings_->params[along->first.index]);
    const auto length = static_cast<std::int64_t>(surroundings_->params[along->length.index]);
    if (!along->wraps) return index;
    return index < 0 ? index + length : index >= length ? index - length : index;
}

template <class T>
void RowEvaluator::node(ExprId, const Coordinate& node, T* out) {
    if (node.kind == CoordinateKind::extent) {
        const auto& along = program_.window.axes[node.axis];
        const double cells =
            along ? surroundings_->params[along->length.index] : static_cast<double>(extent_[node.axis]);
        return (void)std::fill_n(out, cells_, static_cast<T>(cells));
    }
    if (node.kind == CoordinateKind::step)
        return (void)std::fill_n(out, cells_, static_cast<T>(surroundings_->step + level_time_));
    for (std::int64_t i = 0; i < cells_; ++i)
        out[i] = static_cast<T>(grid_index(node.axis, first_[node.axis] + (node.axis == 0 ? i : 0)));
    if (node.kind == CoordinateKind::index) return;
    const Axis& axis = program_.axes[node.axis];
    const T spacing = static_cast<T>(step_constant(axis.spacing));
    const T origin = static_cast<T>(step_constant(axis.origin));
    for (std::int64_t i = 0; i < cells_; ++i)
        out[i] = out[i] * spacing + origin;
}

// ---- operations
// ------------------------------------------------------------------------------------------------

template <class T>
void RowEvaluator::node(ExprId, const Unary& node, T* out) {
    if (node.op == UnaryOp::negate) {
        const T* operand = cells_of<T>(node.operand).data();
        for (std::int64_t i = 0; i < cells_; ++i)
            out[i] = negated(operand[i]);
        return;
    }
    const auto convert = [&](const auto& cells) {
        for (std::int64_t i = 0; i < cells_; ++i)
            out[i] = converted<T>(cells[i]);
    };
    switch (type_[node.operand.index]) {
        case Scalar::f32:
            return convert(cells_of<float>(node.operand));
        case Scalar::f64:
            return convert(cells_of<double>(node.operand));
        case Scalar::boolean:
            return convert(cells_of<std::uint8_t>(node.operand));
        case Scalar::i32:
            return convert(cells_of<std::int32_t>(node.operand));
        case Scalar::i64:
            return convert(cells_of<std::int64_t>(node.operand));
    }
}

template <class T>
void RowEvaluator::node(ExprId, const Binary& node, T* out) {
    apply(node.op, cells_of<T>(node.left).data(), cells_of<T>(node.right).data(), out, cells_);
}

template <class T>
void RowEvaluator::node(ExprId, const Fma& node, T* out) {
    const T* a = cells_of<T>(node.a).data();
    const T* b = cells_of<T>(node.b).data();
    const T* c = cells_of<T>(node.c).data();
    if constexpr (std::is_integral_v<T>) throw InternalError("an fma of integers");
    for (std::int64_t i = 0; i < cells_; ++i)
        out[i] = static_cast<T>(std::fma(a[i], b[i], c[i]));
}

template <class T>
void RowEvaluator::node(ExprId, const Select& node, T* out) {
    const std::uint8_t* condition = cells_of<std::uint8_t>(node.condition).data();
    const T* then = cells_of<T>(node.then).data();
    const T* otherwise = cells_of<T>(node.otherwise).data();
    for (std::int64_t i = 0; i < cells_; ++i)
        out[i] = condition[i] ? then[i] : otherwise[i];
}

template <class T>
void RowEvaluator::node(ExprId, const Call& node, T* out) {
    apply(node.function, cells_of<T>(node.arguments[0]).data(), cells_of<T>(node.arguments.back()).data(),
          out, cells_);
}

template <class T>
void RowEvaluator::node(ExprId, const ReductionRef& node, T* out) {
    std::fill_n(out, cells_, static_cast<T>(surroundings_->reductions[node.reduction.index]));
}

template <class T>
void RowEvaluator::node(ExprId id, const TableSum& node, T* out) {
    std::fill_n(out, cells_, T(0));
    const std::vector<ExprId>& terms = terms_.at(id.index);
    const T* term = cells_of<T>(node.value).data();
    const T* factor = node.factor ? cells_of<T>(*node.factor).data() : nullptr;
    const std::int64_t rows = surroundings_->tables[node.table.index].rows;
    for (row_ = 0; row_ < rows; ++row_) {
        for (ExprId each : terms)
            evaluate_node(each);
        if (factor == nullptr) {
            apply(BinaryOp::add, out, term, out, cells_);
        } else if constexpr (std::is_floating_point_v<T>) {
            for (std::int64_t i = 0; i < cells_; ++i)
                out[i] = std::fma(term[i], factor[i], out[i]);
        }
    }
}

template <class T>
void RowEvaluator::node(ExprId, const TableColumn& node, T* out) {
    const std::vector<double>& values = surroundings_->tables[node.table.index].values;
    const std::size_t width = program_[node.table].columns.size();
    std::fill_n(out, cells_,
                static_cast<T>(
                    values[static_cast<std::size_t>(row_) * width + static_cast<std::size_t>(node.column)]));
}

template <class T>
void RowEvaluator::node(ExprId, const SeriesValue& node, T* out) {
    const std::vector<double>& values = surroundings_->tables[node.series.index].values;
    const double at = static_cast<double>(cells_of<T>(node.at).front());
    std::fill_n(out, cells_, static_cast<T>(rt::series_value(values, at)));
}

template <class T>
void RowEvaluator::node(ExprId id, const Noise& node, T* out) {
    const std::optional<ParamId> param = seed_param(program_);
    const double seed =
        param ? surroundings_->params[param->index] : static_cast<double>(program_.noise_seed);
    const bool narrow = program_[id].type == Scalar::f32;  // the same noise where it is computed in f64
    for (std::int64_t i = 0; i < cells_; ++i) {
        Draw draw{seed, node.stream, surroundings_->step, {grid_index(0, first_[0] + i)}};
        for (int axis = 1; axis < kMaxRank; ++axis)
            draw.cell[axis] = grid_index(axis, first_[axis]);
        if (node.kind == NoiseKind::uniform)
            out[i] = static_cast<T>(narrow ? uniform_noise<float>(draw) : uniform_noise<double>(draw));
        else
            out[i] = static_cast<T>(narrow ? normal_noise<float>(draw) : normal_noise<double>(draw));
    }
}

template <class T>
void RowEvaluator::node(ExprId, const PointColumn& node, T* out) {
    const double value = surroundings_->point_values.at(static_cast<std::size_t>(node.column));
    std::fill_n(out, cells_, static_cast<T>(value));
}

// ---- booleans
// --------------------------------------------------------------------------------------------------

template <class T>
void RowEvaluator::evaluate_boolean_of(const Binary& node, std::uint8_t* out) {
    compare(node.op, cells_of<T>(node.left).data(), cells_of<T>(node.right).data(), out, cells_);
}

void RowEvaluator::evaluate_logic(ExprId id) {
    const Expr& expr = program_[id];
    std::uint8_t* out = cells_of<std::uint8_t>(id).data();
    if (exact_[id.index]) {
        std::fill_n(out, cells_, static_cast<std::uint8_t>(!exact_[id.index]->is_zero()));
    } else if (const Access* access = std::get_if<Access>(&expr.node)) {
        node<std::uint8_t>(id, *access, out);
    } else if (const Unary* unary = std::get_if<Unary>(&expr.node)) {
        if (unary->op == UnaryOp::convert) return node<std::uint8_t>(id, *unary, out);
        const std::uint8_t* a = cells_of<std::uint8_t>(unary->operand).data();
        for (std::int64_t i = 0; i < cells_; ++i)
            out[i] = static_cast<std::uint8_t>(!a[i]);
    } else if (const Binary* binary = std::get_if<Binary>(&expr.node)) {
        switch (type_[binary->left.index]) {
            case Scalar::f32:
                return evaluate_boolean_of<float>(*binary, out);
            case Scalar::f64:
                return evaluate_boolean_of<double>(*binary, out);
            case Scalar::boolean:
                return evaluate_boolean_of<std::uint8_t>(*binary, out);
            case Scalar::i32:
                return evaluate_boolean_of<std::int32_t>(*binary, out);
            case Scalar::i64:
                return evaluate_boolean_of<std::int64_t>(*binary, out);
        }
    } else if (const Select* select = std::get_if<Select>(&expr.node)) {
        node<std::uint8_t>(id, *select, out);
    } else {
        throw InternalError("a node that cannot be boolean");
    }
}

}  // namespace halo::ir
