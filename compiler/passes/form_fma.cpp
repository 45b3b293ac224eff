#include "compiler/passes/form_fma.h"

#include <utility>

#include "compiler/passes/rebuild.h"

namespace halo::passes {

using namespace ir;

namespace {

class Former {
public:
    explicit Former(Program& program)
        : program_(program),
          reads_data_(reads_data(program)),
          uses_(count_uses(program)),
          old_(program.exprs) {
        rebuild(program, [this](ExprBuilder& builder, Expr expr, ExprId id) {
            return form(builder, std::move(expr), id);
        });
    }

private:
    // The product that may be fused, with its operands in the new arena.
    const Binary* fusable(ExprId old, ExprId replacement) const {
        if (!reads_data_[old.index] || uses_[old.index] != 1) return nullptr;
        const Binary* before = std::get_if<Binary>(&old_[old.index].node);
        const Binary* after = std::get_if<Binary>(&program_[replacement].node);
        return before && after && before->op == BinaryOp::mul && after->op == BinaryOp::mul ? after : nullptr;
    }

    ExprId form(ExprBuilder& builder, Expr expr, ExprId id) {
        if (auto* sum = std::get_if<TableSum>(&expr.node)) {
            const ExprId old = std::get<TableSum>(old_[id.index].node).value;
            if (const Binary* product = fusable(old, sum->value)) {
                sum->factor = product->right;
                sum->value = product->left;
            }
            return builder.add(std::move(expr));
        }
        const Binary* before = std::get_if<Binary>(&old_[id.index].node);
        const bool is_sum = before && (before->op == BinaryOp::add || before->op == BinaryOp::sub);
        if (!is_sum || !is_real(expr.type) || !reads_data_[id.index]) return builder.add(std::move(expr));
        const Binary sum = std::get<Binary>(expr.node);
        const bool subtracts = sum.op == BinaryOp::sub;
        if (const Binary* right = fusable(before->right, sum.right)) {
            const Binary product = *right;  // building moves the arena
            return subtracts ? subtract(builder, sum.left, product)
                             : builder.fma(product.left, product.right, sum.left);
        }
        if (const Binary* left = fusable(before->left, sum.left)) {
            const Binary product = *left;
            return builder.fma(product.left, product.right,
                               subtracts ? negated(builder, sum.right) : sum.right);
        }
        return builder.add(std::move(expr));
    }

    // value - product
    ExprId subtract(ExprBuilder& builder, ExprId value, const Binary& product) {
        if (is_cheap_to_negate(product.right) && !is_cheap_to_negate(product.left))
            return builder.fma(product.left, negated(builder, product.right), value);
        return builder.fma(negated(builder, product.left), product.right, value);
    }

    // Whether a minus costs nothing, as the host computes it: of constants and rounded uniform expressions.
    bool is_cheap_to_negate(ExprId id) const {
        const Unary* unary = std::get_if<Unary>(&program_[id].node);
        return std::holds_alternative<Constant>(program_[id].node) ||
               (unary && unary->op == UnaryOp::convert);
    }

    ExprId negated(ExprBuilder& builder, ExprId id) {
        const Expr expr = program_[id];
        if (const Constant* constant = std::get_if<Constant>(&expr.node))
            return builder.constant(-constant->value, expr.type);
        const Unary* unary = std::get_if<Unary>(&expr.node);
        if (unary && unary->op == UnaryOp::negate) return unary->operand;
        if (unary && unary->op == UnaryOp::convert)
            return builder.convert(negated(builder, unary->operand), expr.type);
        return builder.unary(UnaryOp::negate, id);
    }

    const Program& program_;
    std::vector<bool> reads_data_;
    std::vector<std::uint32_t> uses_;
    std::vector<Expr> old_;
};

}  // namespace

void form_fma(Program& program) {
    Former{program};
    prune(program);
}

}  // namespace halo::passes
