#include "compiler/passes/sum_cost.h"

#include <set>

namespace halo::passes {

using namespace ir;

namespace {

const Binary* operation_of(const Expr& expr) {
    const Binary* binary = std::get_if<Binary>(&expr.node);
    if (binary == nullptr || !is_real(expr.type)) return nullptr;
    const bool counts =
        binary->op == BinaryOp::add || binary->op == BinaryOp::sub || binary->op == BinaryOp::mul;
    return counts ? binary : nullptr;
}

}  // namespace

SumCost cost_of_sum(const Program& program, ShiftedShapes& shapes, ExprId root,
                    const std::vector<ExprId>& closed) {
    std::set<ExprId> seen(closed.begin(), closed.end());
    std::set<ExprId> additions, products, fused;
    std::vector<ExprId> pending{root};
    const auto product_of = [&](ExprId id) {
        const Binary* binary = operation_of(program[id]);
        return binary && binary->op == BinaryOp::mul && !shapes.of(id).is_everywhere;
    };
    while (!pending.empty()) {
        const ExprId id = pending.back();
        pending.pop_back();
        if (shapes.of(id).is_everywhere || !seen.insert(id).second) continue;
        if (const auto* unary = std::get_if<Unary>(&program[id].node); unary && unary->op == UnaryOp::negate)
            pending.push_back(unary->operand);
        const Binary* binary = operation_of(program[id]);
        if (binary == nullptr) continue;
        pending.insert(pending.end(), {binary->left, binary->right});
        if (binary->op == BinaryOp::mul) {
            products.insert(id);
            continue;
        }
        additions.insert(id);
        if (product_of(binary->right)) {
            fused.insert(binary->right);
        } else if (product_of(binary->left)) {
            fused.insert(binary->left);
        }
    }
    for (const ExprId id : products)
        if (!fused.contains(id)) additions.insert(id);
    std::set<std::uint32_t> different;
    for (const ExprId id : additions)
        different.insert(shapes.of(id).shape);
    return {static_cast<int>(different.size()), static_cast<int>(additions.size())};
}

// A cell by itself may cost a little more, as kernels seldom compute a single one.
bool is_better(const SumCost& cost, const SumCost& than) {
    return cost.shared < than.shared && 4 * cost.alone <= 5 * than.alone;
}

}  // namespace halo::passes
