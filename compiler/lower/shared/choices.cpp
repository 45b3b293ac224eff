#include "compiler/lower/shared/choices.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/ir/analysis.h"
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
        ir::for_each_operand(program_[next], [&](ir::ExprId operand) { pending.push_back(operand); });
    }
    return false;
}

std::vector<ir::ExprId> Choices::shared(ir::ExprId side) const {
    const std::vector<std::uint32_t> reached = ir::reached_exprs(program_, {side});  // operands first
    std::map<std::uint32_t, int> inside{{side.index, 1}};
    for (const std::uint32_t each : reached)
        ir::for_each_operand(program_.exprs[each], [&](ir::ExprId operand) { ++inside[operand.index]; });
    std::vector<ir::ExprId> found;
    for (const std::uint32_t each : reached) {
        const auto uses = uses_.find(each);
        if (uses != uses_.end() && uses->second > inside[each]) found.push_back(ir::ExprId{each});
    }
    return found;
}

}  // namespace halo::lower
