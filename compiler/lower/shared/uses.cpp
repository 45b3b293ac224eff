#include "compiler/lower/shared/uses.h"

namespace halo::lower {

Uses count_uses(const std::vector<ir::ExprId>& roots,
                const std::function<void(ir::ExprId, const UseOperand& use)>& operands) {
    Uses uses;
    std::vector<ir::ExprId> pending;  // each value once, at its first use
    const UseOperand use = [&](ir::ExprId id) {
        if (++uses[id.index] == 1) pending.push_back(id);
    };
    for (const ir::ExprId root : roots)
        use(root);
    while (!pending.empty()) {
        const ir::ExprId id = pending.back();
        pending.pop_back();
        operands(id, use);
    }
    return uses;
}

}  // namespace halo::lower
