#include "compiler/passes/rebuild.h"

#include <cstddef>

namespace halo::passes {

std::vector<ir::ExprId> roots_of(const ir::Program& program) {
    std::vector<ir::ExprId> roots;
    for_each_root(program, [&](const ir::ExprId& root) { roots.push_back(root); });
    return roots;
}

std::vector<std::uint32_t> count_uses(const ir::Program& program) {
    std::vector<std::uint32_t> uses(program.exprs.size(), 0);
    for (ir::ExprId root : roots_of(program))
        ++uses[root.index];
    for (std::size_t i = uses.size(); i-- > 0;) {  // users come after their operands
        if (uses[i] == 0) continue;
        ir::for_each_operand(program.exprs[i], [&](ir::ExprId operand) { ++uses[operand.index]; });
    }
    return uses;
}

std::vector<bool> reads_data(const ir::Program& program) {
    std::vector<bool> result(program.exprs.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
        const ir::Expr& expr = program.exprs[i];
        bool reads = std::holds_alternative<ir::Access>(expr.node) ||
                     std::holds_alternative<ir::CoefElement>(expr.node) ||
                     std::holds_alternative<ir::TableColumn>(expr.node);
        ir::for_each_operand(expr, [&](ir::ExprId operand) { reads = reads || result[operand.index]; });
        result[i] = reads;
    }
    return result;
}

void prune(ir::Program& program) {
    rebuild(program,
            [](ir::ExprBuilder& builder, ir::Expr expr, ir::ExprId) { return builder.add(std::move(expr)); });
}

}  // namespace halo::passes
