#include "compiler/ir/uses.h"

namespace halo::ir {

Uses count_uses(const std::vector<ExprId>& roots,
                const std::function<void(ExprId, const UseOperand& use)>& operands) {
    Uses uses;
    std::vector<ExprId> pending;  // each value once, at its first use
    const UseOperand use = [&](ExprId id) {
        if (++uses[id.index] == 1) pending.push_back(id);
    };
    for (const ExprId root : roots)
        use(root);
    while (!pending.empty()) {
        const ExprId id = pending.back();
        pending.pop_back();
        operands(id, use);
    }
    return uses;
}

}  // namespace halo::ir
