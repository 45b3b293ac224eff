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

std::vector<const ir::Assign*> Choices::lets_surely_needed(
    const std::vector<ir::ExprId>& roots, const std::function<const ir::Assign*(ir::ExprId)>& let_of) const {
    std::vector<const ir::Assign*> found;
    std::set<std::uint32_t> seen;
    std::vector<ir::ExprId> pending = roots;
    const auto decides = [&](const ir::Expr& expr) {
        const auto* binary = std::get_if<ir::Binary>(&expr.node);
        return binary != nullptr &&
               (binary->op == ir::BinaryOp::logical_or || binary->op == ir::BinaryOp::logical_and);
    };
    while (!pending.empty()) {
        const ir::ExprId next = pending.back();
        pending.pop_back();
        if (!seen.insert(next.index).second) continue;
        if (const ir::Assign* const let = let_of(next)) found.push_back(let);
        if (const auto* select = std::get_if<ir::Select>(&program_[next].node)) {
            pending.push_back(select->condition);
        } else if (decides(program_[next])) {
            operands_(next, [&](ir::ExprId operand) {
                if (decides(program_[operand]) || !costs_much(operand)) pending.push_back(operand);
            });
        } else {
            operands_(next, [&](ir::ExprId operand) { pending.push_back(operand); });
        }
    }
    return found;
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
