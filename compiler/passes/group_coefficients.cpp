#include "compiler/passes/group_coefficients.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/passes/linear_form.h"
#include "compiler/passes/real_operations.h"
#include "compiler/passes/rebuild.h"

namespace halo::passes {

using namespace ir;

namespace {

class Grouper {
public:
    explicit Grouper(Program& program)
        : uniform_(uniform_exprs(program)),
          reads_data_(reads_data(program)),
          uses_(count_uses(program)),
          old_(std::exchange(program.exprs, {})),
          builder_(program),
          coefficients_(program, builder_),
          forms_(program, builder_, coefficients_),
          weighted_(old_.size()),
          value_(old_.size()),
          widened_(old_.size()) {
        find_inner();
        for (std::uint32_t i = 0; i < old_.size(); ++i) {
            if (uses_[i] == 0 || inner_[i]) continue;
            if (!reads_data_[i] || !is_arithmetic(old_[i])) {
                value_[i] = copy(ExprId{i});
            } else {
                weighted_[i] = weigh(ExprId{i});
            }
        }
        for_each_root(program, [&](ExprId& root) { root = value(root); });
    }

private:
    static bool is_arithmetic(const Expr& expr) {
        return sum_of(expr) || product_of(expr) || negation_of(expr);
    }

    const Expr& old(ExprId id) const { return old_[id.index]; }
    bool is_shared(ExprId id) const { return uses_[id.index] > 1; }

    // Finds inner nodes, which are opened into the sum that is their only user.
    void find_inner() {
        inner_.assign(old_.size(), false);
        for (std::size_t i = old_.size(); i-- > 0;) {
            if (uses_[i] == 0 || !reads_data_[i]) continue;
            const bool opens = sum_of(old_[i]) || (negation_of(old_[i]) && inner_[i]);
            if (!opens) continue;
            for_each_operand(old_[i], [&](ExprId operand) {
                const bool opened = sum_of(old(operand)) || negation_of(old(operand));
                if (opened && !is_shared(operand) && reads_data_[operand.index]) inner_[operand.index] = true;
            });
        }
    }

    // ---- values in the new arena

    ExprId copy(ExprId id) {
        Expr expr = old(id);
        map_operands(expr, [&](ExprId operand) { return value(operand); });
        return builder_.add(std::move(expr));
    }

    ExprId value(ExprId id) {
        std::optional<ExprId>& known = value_[id.index];
        if (!known) known = forms_.value(*weighted_[id.index], old(id).type);
        return *known;
    }

    // Rewrites a uniform expression in f64, without its intermediate roundings.
    ExprId widened(ExprId id) {
        const Expr& expr = old(id);
        if (expr.type != Scalar::f32) return value(id);
        std::optional<ExprId>& known = widened_[id.index];
        if (known) return *known;
        const Unary* unary = std::get_if<Unary>(&expr.node);
        if (unary && unary->op == UnaryOp::convert) {
            known = widened(unary->operand);
        } else {
            Expr wide = expr;
            wide.type = Scalar::f64;
            map_operands(wide, [&](ExprId operand) { return widened(operand); });
            known = builder_.add(std::move(wide));
        }
        return *known;
    }

    Coefficient factors(ExprId uniform) { return coefficients_.factors(widened(uniform)); }

    // ---- coefficient * term for each node that varies

    WeightedTerm weigh(ExprId id) {
        const Expr& expr = old(id);
        if (sum_of(expr)) return weigh_sum(id);
        if (const Unary* negation = negation_of(expr)) return scaled(negation->operand, Coefficient{{}, -1});
        const Binary& product = *product_of(expr);
        return product.op == BinaryOp::mul ? weigh_product(product) : weigh_quotient(expr.type, product);
    }

    // Scales a term that is an operand of something else than a sum.
    WeightedTerm scaled(ExprId id, const Coefficient& factor) {
        WeightedTerm result = term_of(id);
        result.coefficient = result.coefficient * factor;
        return result;
    }

    // A shared sum stays closed: it is computed once.
    WeightedTerm term_of(ExprId id) {
        if (!weighted_[id.index]) return {Coefficient{}, value(id), nullptr};
        WeightedTerm result = *weighted_[id.index];
        if (is_shared(id)) result.nested = nullptr;
        return result;
    }

    // An operand of a product: a shared product keeps its own factor, which would be multiplied twice
    // otherwise.
    WeightedTerm factor_of(ExprId id, bool shared) {
        if (shared && weighted_[id.index] && !weighted_[id.index]->is_uniform())
            return {Coefficient{}, value(id), nullptr};
        return term_of(id);
    }

    WeightedTerm weigh_product(const Binary& product) {
        if (uniform_[product.left.index]) return scaled(product.right, factors(product.left));
        if (uniform_[product.right.index]) return scaled(product.left, factors(product.right));
        const std::uint32_t own_uses = product.left == product.right ? 2 : 1;
        const WeightedTerm a = factor_of(product.left, uses_[product.left.index] > own_uses);
        const WeightedTerm b = factor_of(product.right, uses_[product.right.index] > own_uses);
        const Coefficient coefficient = a.coefficient * b.coefficient;
        if (a.is_uniform()) return {coefficient, b.term, b.nested};
        if (b.is_uniform()) return {coefficient, a.term, a.nested};
        return {coefficient, builder_.binary(BinaryOp::mul, *a.term, *b.term), nullptr};
    }

    WeightedTerm weigh_quotient(Scalar type, const Binary& quotient) {
        if (uniform_[quotient.right.index]) {
            const Coefficient divisor = factors(quotient.right);
            if (!divisor.is_zero()) return scaled(quotient.left, inverse(divisor));
            const ExprId closed = builder_.binary(BinaryOp::div, value(quotient.left), value(quotient.right));
            return {Coefficient{}, closed, nullptr};
        }
        const std::uint32_t own_uses = quotient.left == quotient.right ? 2 : 1;
        WeightedTerm b = factor_of(quotient.right, uses_[quotient.right.index] > own_uses);
        if (b.is_uniform() || b.coefficient.is_zero()) b = {Coefficient{}, value(quotient.right), nullptr};
        const Coefficient below = inverse(b.coefficient);
        if (uniform_[quotient.left.index]) {
            const ExprId above = coefficients_.expression(factors(quotient.left) * below, type);
            return {Coefficient{}, builder_.binary(BinaryOp::div, above, *b.term), nullptr};
        }
        const WeightedTerm a = factor_of(quotient.left, uses_[quotient.left.index] > own_uses);
        if (a.is_uniform()) {
            const ExprId above = coefficients_.expression(a.coefficient * below, type);
            return {Coefficient{}, builder_.binary(BinaryOp::div, above, *b.term), nullptr};
        }
        return {a.coefficient * below, builder_.binary(BinaryOp::div, *a.term, *b.term), nullptr};
    }

    WeightedTerm weigh_sum(ExprId root) {
        LinearForms::Sum sum(forms_);
        std::vector<std::pair<ExprId, int>> pending{{root, 1}};  // with their signs; the last is next
        while (!pending.empty()) {
            const auto [id, sign] = pending.back();
            pending.pop_back();
            const bool opened = id == root || inner_[id.index];
            if (const Binary* binary = opened ? sum_of(old(id)) : nullptr) {
                pending.emplace_back(binary->right, binary->op == BinaryOp::sub ? -sign : sign);
                pending.emplace_back(binary->left, sign);
            } else if (const Unary* negation = opened ? negation_of(old(id)) : nullptr) {
                pending.emplace_back(negation->operand, -sign);
            } else {
                add_term(sum, id, Coefficient{{}, sign});
            }
        }
        return forms_.write(sum.take(), old(root).type);
    }

    void add_term(LinearForms::Sum& sum, ExprId id, const Coefficient& sign) {
        if (uniform_[id.index]) return sum.add({factors(id), std::nullopt, nullptr}, sign);
        const WeightedTerm term = term_of(id);
        if (term.nested && (term.coefficient.is_one() || term.coefficient.is_minus_one())) {
            for (const WeightedTerm& part : term.nested->items)
                sum.add(part, term.coefficient * sign);
        } else {
            sum.add(term, sign);
        }
    }

    std::vector<bool> uniform_;
    std::vector<bool> reads_data_;
    std::vector<std::uint32_t> uses_;
    std::vector<Expr> old_;
    ExprBuilder builder_;
    Coefficients coefficients_;
    LinearForms forms_;
    std::vector<bool> inner_;
    // By old handle; of needed nodes only.
    std::vector<std::optional<WeightedTerm>> weighted_;  // arithmetic that varies and is not inner
    std::vector<std::optional<ExprId>> value_;
    std::vector<std::optional<ExprId>> widened_;
};

}  // namespace

void group_coefficients(Program& program) {
    Grouper{program};
    prune(program);
}

}  // namespace halo::passes
