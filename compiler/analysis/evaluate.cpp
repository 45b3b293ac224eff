#include "compiler/analysis/evaluate.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "compiler/analysis/known_value.h"
#include "compiler/support/work.h"

namespace halo::analysis {

PointEvaluator::PointEvaluator(const ir::Program& program, RunValues values)
    : program_(program),
      values_(std::move(values)),
      known_(program.exprs.size()),
      known_at_(program.exprs.size()) {}

std::optional<double> PointEvaluator::leaf(const ir::Expr& expr, const Cell& cell) {
    if (const auto* param = std::get_if<ir::ParamRef>(&expr.node)) return values_.params[param->param.index];
    if (const auto* coef = std::get_if<ir::CoefElement>(&expr.node))
        return values_.coefs[coef->coef.index][static_cast<std::size_t>(coef->element)];
    const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node);
    if (coordinate == nullptr) return std::nullopt;
    const auto axis = static_cast<std::size_t>(coordinate->axis);
    const auto index = static_cast<double>(cell[axis]);
    switch (coordinate->kind) {
        case ir::CoordinateKind::index:
            return index;
        case ir::CoordinateKind::position: {
            PointEvaluator uniform(program_, values_);
            const auto spacing = uniform.value(program_.axes[axis].spacing, cell);
            const auto origin = uniform.value(program_.axes[axis].origin, cell);
            if (!spacing || !origin) return std::nullopt;
            return *origin + *spacing * index;
        }
        case ir::CoordinateKind::extent:
            if (!values_.extent) return std::nullopt;
            return static_cast<double>((*values_.extent)[axis]);
        case ir::CoordinateKind::step:
            return std::nullopt;
    }
    return std::nullopt;
}

void PointEvaluator::plan(ir::ExprId root) {
    plan_.clear();
    planned_ = root;
    is_whole_plan_ = true;
    std::vector<ir::ExprId> pending{root};
    std::unordered_set<std::uint32_t> seen{root.index};
    while (!pending.empty()) {
        const ir::ExprId id = pending.back();
        pending.pop_back();
        plan_.push_back(id);
        ir::for_each_operand(program_[id], [&](ir::ExprId operand) {
            if (known_at_[operand.index] == turn_) {
                is_whole_plan_ = false;
            } else if (seen.insert(operand.index).second) {
                pending.push_back(operand);
            }
        });
    }
    std::ranges::sort(plan_);
}

std::optional<double> PointEvaluator::value(ir::ExprId root, const Cell& cell) {
    if (turn_ == 0 || cell != cell_) ++turn_;
    cell_ = cell;
    if (known_at_[root.index] == turn_) return known_[root.index];
    if (plan_.empty() || planned_ != root || !is_whole_plan_) plan(root);
    Work::count(plan_.size());
    for (ir::ExprId id : plan_) {
        known_at_[id.index] = turn_;
        const ir::Expr& expr = program_[id];
        std::vector<double> operands;
        bool complete = true, is_leaf = true;
        ir::for_each_operand(expr, [&](ir::ExprId operand) {
            is_leaf = false;
            complete = complete && known_[operand.index].has_value();
            operands.push_back(known_[operand.index].value_or(0));
        });
        const bool is_constant = std::holds_alternative<ir::Constant>(expr.node);
        known_[id.index] = is_leaf && !is_constant ? leaf(expr, cell)
                           : complete              ? known_value(expr, operands)
                                                   : std::nullopt;
    }
    return known_[root.index];
}

}  // namespace halo::analysis
