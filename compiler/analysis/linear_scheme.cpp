#include "compiler/analysis/linear_scheme.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/analysis/known_value.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/grids.h"

namespace halo::analysis {

namespace {

using ir::ExprId;

// A larger matrix would take long, and no usual scheme needs one.
constexpr std::size_t kMaxRows = 64;

bool is_nonlinear_leaf(const ir::Expr& expr) {
    return std::holds_alternative<ir::ReductionRef>(expr.node);
}

// Why an expression is not linear whose operands depend on the states.
std::string nonlinear_words(const ir::Expr& expr) {
    if (const auto* binary = std::get_if<ir::Binary>(&expr.node)) {
        switch (binary->op) {
            case ir::BinaryOp::mul:
                return "this multiplies values that both change from step to step";
            case ir::BinaryOp::div:
                return "this divides by a value that changes from step to step";
            case ir::BinaryOp::min:
            case ir::BinaryOp::max:
                return "`min` and `max` of a value that changes from step to step are not linear";
            default:
                return "this compares a value that changes from step to step";
        }
    }
    if (std::holds_alternative<ir::Select>(expr.node))
        return "this condition is on a value that changes from step to step";
    if (std::holds_alternative<ir::ReductionRef>(expr.node))
        return "a reduction is read, which every cell has a part in";
    if (std::holds_alternative<ir::TableSum>(expr.node))
        return "a sum over a table of values that change from step to step is not looked into";
    return "this function of a value that changes from step to step is not linear";
}

}  // namespace

// ---- the nodes that depend on states
// -----------------------------------------------------------------------------------

std::variant<LinearScheme, Refusal> LinearScheme::make(const ir::Program& program) {
    if (ir::has_coarse_grids(program)) return Refusal{ir::kSeveralGrids, {}};
    LinearScheme scheme(program);
    scheme.first_row_.assign(program.fields.size(), 0);
    for (std::size_t i = 0; i < program.fields.size(); ++i) {
        const ir::Field& field = program.fields[i];
        if (field.role != ir::Role::state) continue;
        if (!ir::is_real(field.type))
            return Refusal{fmt::format("`{}` holds no real numbers", field.name), field.where};
        scheme.first_row_[i] = scheme.rows_;
        scheme.rows_ += static_cast<std::size_t>(1 + field.history);
    }
    if (scheme.rows_ == 0) return Refusal{"nothing goes on from step to step", {}};
    if (scheme.rows_ > kMaxRows)
        return Refusal{fmt::format("{} states and past levels are too many to look into", scheme.rows_), {}};
    if (std::optional<Refusal> refusal = scheme.read_statements()) return *std::move(refusal);
    return scheme;
}

std::optional<Refusal> LinearScheme::read_statements() {
    for (const ir::Statement& statement : program_->statements) {
        if (const auto* assign = std::get_if<ir::Assign>(&statement)) {
            if (std::optional<Refusal> refusal = read(*assign)) return refusal;
        }
    }
    // Only levels of states have to be linear; others that are not matter where a state depends on them.
    for (const auto& [level, refusal] : broken_) {
        if (refusal && (*program_)[level.first].role == ir::Role::state) return refusal;
    }
    return std::nullopt;
}

std::optional<Refusal> LinearScheme::read(const ir::Assign& assign) {
    const LevelKey level{assign.target, assign.time};
    const bool is_first = !written_.contains(level) && !broken_.contains(level);
    if (!assign.region.is_whole()) {
        if (!is_first || std::any_of(program_->statements.begin(), program_->statements.end(),
                                     [&](const ir::Statement& other) {
                                         const auto* each = std::get_if<ir::Assign>(&other);
                                         return each && each->target == assign.target &&
                                                each->time == assign.time && each->region.is_whole();
                                     })) {
            leaves_out_regions_ = true;
            return std::nullopt;
        }
    }
    std::optional<Refusal> refusal;
    if (!assign.repeats.empty())
        refusal = Refusal{"a `repeat` does it several times in a step", assign.where};
    if (assign.sweep)
        refusal = Refusal{"a sweep gives each cell a value made of all before it", assign.where};
    if (assign.condition) {
        refusal = Refusal{"a condition makes the step differ from cell to cell",
                          (*program_)[*assign.condition].where};
    }
    Step step{assign.target, assign.time, Kind::known, {}};
    std::vector<std::size_t> place(program_->exprs.size(), 0);
    const std::vector<bool> reachable = ir::reachable_exprs(*program_, {assign.value});
    for (std::uint32_t i = 0; i <= assign.value.index && !refusal; ++i) {
        if (!reachable[i]) continue;
        Node node;
        node.expr = ExprId{i};
        ir::for_each_operand((*program_)[node.expr],
                             [&](ExprId operand) { node.operands.push_back(place[operand.index]); });
        refusal = classify(step, node);
        place[i] = step.nodes.size();
        step.nodes.push_back(std::move(node));
    }
    if (refusal) {
        broken_[level] = refusal;
        return std::nullopt;
    }
    step.kind = step.nodes.back().kind;
    written_[level] = step.kind;
    broken_.erase(level);
    if (step.kind == Kind::linear) {
        work_ += static_cast<std::int64_t>(step.nodes.size() * rows_);
    }
    steps_.push_back(std::move(step));
    return std::nullopt;
}

std::optional<Refusal> LinearScheme::classify(Step& step, Node& node) {
    const ir::Expr& expr = (*program_)[node.expr];
    const auto refuse = [&] { return Refusal{nonlinear_words(expr), expr.where}; };
    if (const auto* access = std::get_if<ir::Access>(&expr.node)) {
        const ir::Role role = (*program_)[access->field].role;
        const LevelKey level{access->field, access->time};
        if (role == ir::Role::input) return std::nullopt;
        const bool is_old = role == ir::Role::state && access->time <= 0;
        if (const auto broken = broken_.find(level); !is_old && broken != broken_.end())
            return broken->second;
        const auto written = written_.find(level);
        if (!is_old && written == written_.end())
            return Refusal{
                fmt::format("`{}` is written for a part of the grid alone", (*program_)[access->field].name),
                expr.where};
        node.kind = is_old ? Kind::linear : written->second;
        if (node.kind == Kind::known) return std::nullopt;
        for (std::size_t axis = 0; axis < varies_along_.size(); ++axis)
            varies_along_[axis] = varies_along_[axis] || access->offset[axis] != 0;
        return std::nullopt;
    }
    if (is_nonlinear_leaf(expr)) return refuse();
    const auto is_linear = [&](std::size_t operand) {
        return step.nodes[node.operands[operand]].kind == Kind::linear;
    };
    std::size_t linear = 0;
    for (std::size_t operand = 0; operand < node.operands.size(); ++operand)
        linear += is_linear(operand) ? 1 : 0;
    if (linear == 0) return std::nullopt;
    node.kind = Kind::linear;
    if (const auto* unary = std::get_if<ir::Unary>(&expr.node)) {
        const bool keeps = unary->op != ir::UnaryOp::logical_not && ir::is_real(expr.type);
        return keeps ? std::nullopt : std::optional<Refusal>(refuse());
    }
    if (const auto* binary = std::get_if<ir::Binary>(&expr.node)) {
        if (!ir::is_real(expr.type)) return refuse();
        if (binary->op == ir::BinaryOp::add || binary->op == ir::BinaryOp::sub) return std::nullopt;
        const bool divides = binary->op == ir::BinaryOp::div;
        if ((binary->op != ir::BinaryOp::mul && !divides) || linear > 1 || (divides && is_linear(1)))
            return refuse();
        mark_factor(step, node.operands[is_linear(0) ? 1 : 0]);
        return std::nullopt;
    }
    if (std::holds_alternative<ir::Fma>(expr.node)) {
        if (is_linear(0) && is_linear(1)) return refuse();
        if (is_linear(0)) mark_factor(step, node.operands[1]);
        if (is_linear(1)) mark_factor(step, node.operands[0]);
        return std::nullopt;
    }
    if (std::holds_alternative<ir::Select>(expr.node)) {
        if (is_linear(0)) return refuse();
        mark_factor(step, node.operands[0]);
        return std::nullopt;
    }
    return refuse();
}

// The values of the node and of all its operands must be known.
void LinearScheme::mark_factor(Step& step, std::size_t index) {
    Node& node = step.nodes[index];
    if (node.is_factor) return;
    node.is_factor = true;
    note_leaf((*program_)[node.expr]);
    for (std::size_t operand : node.operands)
        mark_factor(step, operand);
    if (const auto* access = std::get_if<ir::Access>(&(*program_)[node.expr].node)) {
        for (Step& earlier : steps_) {
            if (earlier.target == access->field && earlier.time == access->time)
                mark_factor(earlier, earlier.nodes.size() - 1);
        }
    }
}

void LinearScheme::note_leaf(const ir::Expr& expr) {
    if (const auto* param = std::get_if<ir::ParamRef>(&expr.node)) coefficient_params_.insert(param->param);
    if (const auto* access = std::get_if<ir::Access>(&expr.node)) {
        if ((*program_)[access->field].role == ir::Role::input) coefficient_fields_.insert(access->field);
    }
    if (const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node)) {
        has_coordinates_ = has_coordinates_ || coordinate->kind == ir::CoordinateKind::index ||
                           coordinate->kind == ir::CoordinateKind::position;
        if (coordinate->kind != ir::CoordinateKind::position) return;
        const ir::Axis& axis = program_->axes[static_cast<std::size_t>(coordinate->axis)];
        const std::vector<bool> reachable = ir::reachable_exprs(*program_, {axis.spacing, axis.origin});
        for (std::size_t i = 0; i < reachable.size(); ++i)
            if (reachable[i]) note_leaf(program_->exprs[i]);
    }
}

// ---- numbers
// ---------------------------------------------------------------------------------------------------

namespace {

std::string unknown_words(const ir::Program& program, const ir::Expr& expr) {
    if (const auto* param = std::get_if<ir::ParamRef>(&expr.node))
        return fmt::format("`{}` has no value", program[param->param].name);
    if (const auto* access = std::get_if<ir::Access>(&expr.node))
        return fmt::format("the values of `{}` are not known", program[access->field].name);
    if (const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node)) {
        return coordinate->kind == ir::CoordinateKind::step ? "a factor changes with time"
                                                            : "the grid is not known";
    }
    if (std::holds_alternative<ir::SeriesValue>(expr.node)) return "a factor changes with time";
    if (std::holds_alternative<ir::Noise>(expr.node)) return "a factor is noise";
    return "a factor is not known";
}

}  // namespace

void LinearScheme::evaluate_known(const Step& step, Node& node, PointEvaluator& leaves,
                                  const FrozenCell& cell) {
    const ir::Expr& expr = (*program_)[node.expr];
    std::optional<double> value;
    if (const auto* access = std::get_if<ir::Access>(&expr.node)) {
        if ((*program_)[access->field].role == ir::Role::input) {
            value = cell.inputs[access->field.index];
        } else if (const auto& [number, is_known] = known_levels_[{access->field, access->time}]; is_known) {
            value = number;
        }
    } else if (node.operands.empty() && !std::holds_alternative<ir::Constant>(expr.node)) {
        value = leaves.leaf(expr, cell.index);
    } else {
        std::vector<double> operands;
        bool complete = true;
        for (std::size_t operand : node.operands) {
            complete = complete && step.nodes[operand].is_determined;
            operands.push_back(step.nodes[operand].value);
        }
        if (complete) value = known_value(expr, operands);
    }
    node.is_determined = value.has_value();
    node.value = value.value_or(0);
}

std::optional<Refusal> LinearScheme::freeze(const RunValues& values, const FrozenCell& cell) {
    known_levels_.clear();
    PointEvaluator leaves(*program_, values);
    for (Step& step : steps_) {
        for (Node& node : step.nodes) {
            if (node.kind != Kind::known) continue;
            evaluate_known(step, node, leaves, cell);
            const ir::Expr& expr = (*program_)[node.expr];
            const bool is_leaf = node.operands.empty() && !std::holds_alternative<ir::Constant>(expr.node);
            if (!node.is_factor || node.is_determined || !is_leaf) continue;
            return Refusal{unknown_words(*program_, expr), expr.where};
        }
        for (const Node& node : step.nodes) {
            if (node.kind == Kind::known && node.is_factor && !node.is_determined)
                return Refusal{"a factor is not known", (*program_)[node.expr].where};
        }
        const Node& last = step.nodes.back();
        if (step.kind == Kind::known)
            known_levels_[{step.target, step.time}] = {last.value, last.is_determined};
    }
    return std::nullopt;
}

// ---- waves
// -----------------------------------------------------------------------------------------------------

LinearScheme::Form LinearScheme::form_of(const Step& step, const Node& node, const std::vector<Form>& values,
                                         const std::map<LevelKey, Form>& levels, const Angles& angles) const {
    Form result(rows_);
    const auto operand = [&](std::size_t n) -> const Node& { return step.nodes[node.operands[n]]; };
    const auto add = [&](std::size_t n, double factor) {
        if (operand(n).kind != Kind::linear) return;  // a source
        for (std::size_t row = 0; row < rows_; ++row)
            result[row] += factor * values[node.operands[n]][row];
    };
    const ir::Expr& expr = (*program_)[node.expr];
    if (const auto* access = std::get_if<ir::Access>(&expr.node)) {
        double phase = 0;
        for (std::size_t axis = 0; axis < angles.size(); ++axis)
            phase += angles[axis] * access->offset[axis];
        const Complex factor = std::polar(1.0, phase);
        const auto written = levels.find({access->field, access->time});
        if (written == levels.end()) {
            result[row_of(access->field, -access->time)] = factor;
            return result;
        }
        for (std::size_t row = 0; row < rows_; ++row)
            result[row] = factor * written->second[row];
    } else if (const auto* unary = std::get_if<ir::Unary>(&expr.node)) {
        add(0, unary->op == ir::UnaryOp::negate ? -1 : 1);
    } else if (const auto* binary = std::get_if<ir::Binary>(&expr.node)) {
        const bool left = operand(0).kind == Kind::linear;
        if (binary->op == ir::BinaryOp::mul) {
            add(left ? 0 : 1, operand(left ? 1 : 0).value);
        } else if (binary->op == ir::BinaryOp::div) {
            add(0, 1 / operand(1).value);
        } else {
            add(0, 1);
            add(1, binary->op == ir::BinaryOp::add ? 1 : -1);
        }
    } else if (std::holds_alternative<ir::Fma>(expr.node)) {
        add(0, operand(1).value);
        add(1, operand(0).value);
        add(2, 1);
    } else {  // a select by a known condition
        add(operand(0).value != 0 ? 1 : 2, 1);
    }
    return result;
}

Matrix LinearScheme::matrix(const Angles& angles) const {
    std::map<LevelKey, Form> levels;
    for (const Step& step : steps_) {
        if (step.kind == Kind::known) continue;
        std::vector<Form> values(step.nodes.size());
        for (std::size_t i = 0; i < step.nodes.size(); ++i) {
            if (step.nodes[i].kind == Kind::linear)
                values[i] = form_of(step, step.nodes[i], values, levels, angles);
        }
        levels[{step.target, step.time}] = std::move(values.back());
    }
    Matrix result(rows_);
    for (std::size_t i = 0; i < program_->fields.size(); ++i) {
        const ir::Field& field = program_->fields[i];
        if (field.role != ir::Role::state) continue;
        const ir::FieldId id{static_cast<std::uint32_t>(i)};
        if (const auto written = levels.find({id, 1}); written != levels.end()) {
            for (std::size_t column = 0; column < rows_; ++column)
                result.at(row_of(id, 0), column) = written->second[column];
        }
        for (int age = 1; age <= field.history; ++age)
            result.at(row_of(id, age), row_of(id, age - 1)) = 1.0;
    }
    return result;
}

}  // namespace halo::analysis
