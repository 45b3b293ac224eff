#include "compiler/adjoint/past.h"

#include "compiler/adjoint/copy.h"
#include "compiler/ir/analysis.h"

namespace halo::adjoint {

bool follows_from(const ir::Program& program, ir::ExprId value, ir::FieldId field,
                  const std::set<ir::FieldId>& unchanging) {
    if (ir::changes_with_step(program, value)) return false;
    bool reads_it = false;
    for (const std::uint32_t i : ir::reached_exprs(program, {value})) {
        const ir::Expr& expr = program.exprs[i];
        if (std::holds_alternative<ir::TableSum>(expr.node)) return false;
        const auto* access = std::get_if<ir::Access>(&expr.node);
        if (access == nullptr) continue;
        const bool is_it = access->field == field;
        if (access->offset != ir::Offset{} || access->time != 0) return false;
        if (!is_it && !unchanging.contains(access->field)) return false;
        reads_it = reads_it || is_it;
    }
    return reads_it;
}

ir::ExprId a_step_before(Algebra& algebra, ir::ExprId value, ir::FieldId field) {
    const ir::Program& program = algebra.program();
    return copy_expr(program, value, algebra, [&](const ir::Expr& leaf) -> std::optional<ir::ExprId> {
        const auto* access = std::get_if<ir::Access>(&leaf.node);
        if (access == nullptr) return std::nullopt;
        return algebra.read(access->field, access->field == field ? -1 : 0);
    });
}

}  // namespace halo::adjoint
