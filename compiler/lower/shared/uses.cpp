#include "compiler/lower/shared/uses.h"

#include <set>

namespace halo::lower {

Uses count_uses(const std::vector<ir::ExprId>& roots,
                const std::function<void(ir::ExprId, const UseOperand& use)>& operands) {
    Uses uses;
    std::set<std::uint32_t, std::greater<>> needed;  // the last first: users come after their operands
    const UseOperand use = [&](ir::ExprId id) {
        needed.insert(id.index);
        ++uses[id.index];
    };
    for (const ir::ExprId root : roots)
        use(root);
    while (!needed.empty()) {
        const ir::ExprId id{*needed.begin()};
        needed.erase(needed.begin());
        operands(id, use);
    }
    return uses;
}

}  // namespace halo::lower
