#include "compiler/lower/shared/choices.h"

#include <functional>
#include <map>
#include <set>

#include "compiler/lower/shared/operations.h"

namespace halo::lower {

std::optional<Level> Choices::level_of(ir::ExprId id) const {
    if (const auto* select = std::get_if<ir::Select>(&program_[id].node)) {
        const std::optional<Level> level = level_of(select->then);
        return level && level == level_of(select->otherwise) ? level : std::nullopt;
    }
    const auto* access = std::get_if<ir::Access>(&program_[id].node);
    if (access == nullptr || !in_memory_(id)) return std::nullopt;
    return Level{access->field, access->time};
}

bool Choices::costs_much(ir::ExprId id) const {
    std::vector<ir::ExprId> pending{id};
    std::set<std::uint32_t> seen;
    while (!pending.empty()) {
        const ir::ExprId next = pending.back();
        pending.pop_back();
        if (!seen.insert(next.index).second || is_known_(next)) continue;
        if (takes_long(program_[next])) return true;
        operands_(next, [&](ir::ExprId operand) { pending.push_back(operand); });
    }
    return false;
}

std::vector<ir::ExprId> Choices::shared(const std::vector<ir::ExprId>& sides) const {
    std::map<std::uint32_t, int> inside;
    std::vector<ir::ExprId> reached;  // operands first
    const std::function<void(ir::ExprId)> use = [&](ir::ExprId id) {
        if (++inside[id.index] > 1) return;
        operands_(id, use);
        reached.push_back(id);
    };
    for (const ir::ExprId side : sides)
        use(side);
    std::erase_if(reached, [&](ir::ExprId each) {
        const auto uses = uses_.find(each.index);
        return uses == uses_.end() || uses->second <= inside[each.index];
    });
    return reached;
}

}  // namespace halo::lower
