#include "compiler/adjoint/active.h"

#include "compiler/ir/analysis.h"

namespace halo::adjoint {

using ir::FieldId;

std::set<FieldId> dependent_fields(const ir::Program& program, const std::vector<Dependence>& step,
                                   std::set<FieldId> sources, const std::set<ir::ParamId>& params,
                                   const std::set<PointNumber>& numbers) {
    for (bool grows = true; grows;) {
        grows = false;
        Varied varied(program, sources, params, numbers);
        for (const Dependence& each : step) {
            if (sources.contains(each.target)) continue;
            for (const ir::ExprId value : each.values)
                if (varied(value)) grows = sources.insert(each.target).second || grows;
        }
    }
    return sources;
}

std::set<FieldId> needed_fields(const ir::Program& program, const std::vector<Dependence>& step,
                                std::set<FieldId> results) {
    for (bool grows = true; grows;) {
        grows = false;
        for (const Dependence& each : step) {
            if (!results.contains(each.target)) continue;
            for (const std::uint32_t i : ir::reached_exprs(program, each.values))
                if (const auto* access = std::get_if<ir::Access>(&program.exprs[i].node))
                    grows = results.insert(access->field).second || grows;
        }
    }
    return results;
}

bool Varied::operator()(ir::ExprId id) {
    for (std::size_t i = varied_.size(); i <= id.index; ++i) {
        const ir::Expr& expr = program_.exprs[i];
        const auto* access = std::get_if<ir::Access>(&expr.node);
        const auto* param = std::get_if<ir::ParamRef>(&expr.node);
        const auto* number = std::get_if<ir::PointColumn>(&expr.node);
        const auto* select = std::get_if<ir::Select>(&expr.node);
        bool varied = (access && fields_.contains(access->field)) ||
                      (param && params_.contains(param->param)) ||
                      (number && numbers_.contains({number->points, number->column}));
        if (select) {  // a condition lets no change through
            varied = varied_[select->then.index] || varied_[select->otherwise.index];
        } else {
            ir::for_each_operand(expr,
                                 [&](ir::ExprId operand) { varied = varied || varied_[operand.index]; });
        }
        varied_.push_back(varied && expr.type != ir::Scalar::boolean);
    }
    return varied_[id.index];
}

}  // namespace halo::adjoint
