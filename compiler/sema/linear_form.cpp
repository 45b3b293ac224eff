#include "compiler/sema/linear_form.h"

#include <set>
#include <unordered_map>
#include <utility>

#include "compiler/ir/analysis.h"

namespace halo::sema {

namespace {

using ir::BinaryOp;

bool is_none(const Value& value) {
    return value.is_number() && value.number.is_zero();
}

class FormFinder {
public:
    FormFinder(Arithmetic& arithmetic, ir::FieldId field)
        : arithmetic_(arithmetic), program_(arithmetic.program()), field_(field) {}

    LinearForm find(ir::ExprId root) {
        // Operands come before what is made of them.
        for (const std::uint32_t index : ir::reached_exprs(program_, {root})) {
            const ir::Expr expr = program_.exprs[index];  // a copy: the arena grows
            visit(ir::ExprId{index}, expr);
            if (result_.fault) return std::move(result_);
        }
        Factors& all = forms_[root.index];
        std::erase_if(all, [](const auto& each) { return is_none(each.second); });
        result_.factors = std::move(all);
        if (result_.factors.empty() || constant_.contains(root.index))
            result_.fault = LinearForm::Fault{places_[root.index], true};
        return std::move(result_);
    }

private:
    using Factors = std::map<ir::Offset, Value>;

    bool reads(ir::ExprId id) const { return forms_.contains(id.index); }
    Value value(ir::ExprId id) const { return arithmetic_.value_of(id); }

    void visit(ir::ExprId id, const ir::Expr& expr) {
        places_[id.index] = expr.where;
        if (const auto* access = std::get_if<ir::Access>(&expr.node)) {
            if (access->field != field_) return;
            if (access->time != 0 || access->is_mapped()) return fail(expr);
            forms_[id.index] = {{access->offset, Value::of(Rational(1))}};
            return;
        }
        bool any = false;
        ir::for_each_operand(expr, [&](ir::ExprId operand) { any = any || reads(operand); });
        if (!any) return;
        if (const auto* unary = std::get_if<ir::Unary>(&expr.node)) return of_unary(id, expr, *unary);
        if (const auto* binary = std::get_if<ir::Binary>(&expr.node)) return of_binary(id, expr, *binary);
        if (const auto* select = std::get_if<ir::Select>(&expr.node)) return of_select(id, expr, *select);
        fail(expr);
    }

    void of_unary(ir::ExprId id, const ir::Expr& expr, const ir::Unary& unary) {
        const bool is_negated = unary.op == ir::UnaryOp::negate;
        if (!is_negated && (unary.op != ir::UnaryOp::convert || !ir::is_real(expr.type))) return fail(expr);
        Factors factors = forms_.at(unary.operand.index);
        for (auto& [offset, factor] : factors)
            if (is_negated) factor = arithmetic_.negate(factor, expr.where);
        keep(id, std::move(factors), {unary.operand});
    }

    void of_binary(ir::ExprId id, const ir::Expr& expr, const ir::Binary& binary) {
        const bool left = reads(binary.left), right = reads(binary.right);
        if (binary.op == BinaryOp::add || binary.op == BinaryOp::sub) return add(id, expr, binary);
        if (binary.op != BinaryOp::mul && (binary.op != BinaryOp::div || right)) return fail(expr);
        if (left && right) return fail(expr);
        const ir::ExprId linear = left ? binary.left : binary.right;
        const Value other = value(left ? binary.right : binary.left);
        Factors factors = forms_.at(linear.index);
        for (auto& [offset, factor] : factors)
            factor = arithmetic_.generated(binary.op, factor, other, expr.where);
        keep(id, std::move(factors), {linear});
    }

    void add(ir::ExprId id, const ir::Expr& expr, const ir::Binary& binary) {
        Factors factors;
        if (reads(binary.left)) factors = forms_.at(binary.left.index);
        if (reads(binary.right)) {
            for (const auto& [offset, factor] : forms_.at(binary.right.index)) {
                const Value signed_factor =
                    binary.op == BinaryOp::sub ? arithmetic_.negate(factor, expr.where) : factor;
                const auto [place, is_new] = factors.try_emplace(offset, signed_factor);
                if (!is_new)
                    place->second =
                        arithmetic_.generated(BinaryOp::add, place->second, signed_factor, expr.where);
            }
        }
        keep(id, std::move(factors), {binary.left, binary.right});
    }

    void of_select(ir::ExprId id, const ir::Expr& expr, const ir::Select& select) {
        if (reads(select.condition)) return fail(expr);
        const Value condition = value(select.condition);
        Factors factors;
        const auto take = [&](ir::ExprId branch, bool is_then) {
            if (!reads(branch)) return;
            for (const auto& [offset, factor] : forms_.at(branch.index)) {
                const Value none = Value::of(Rational());
                const Value chosen = is_then ? arithmetic_.select(condition, factor, none, expr.where)
                                             : arithmetic_.select(condition, none, factor, expr.where);
                const auto [place, is_new] = factors.try_emplace(offset, chosen);
                if (!is_new)
                    place->second = arithmetic_.binary(BinaryOp::add, place->second, chosen, expr.where);
            }
        };
        take(select.then, true);
        take(select.otherwise, false);
        keep(id, std::move(factors), {select.then, select.otherwise});
    }

    // Notes a term without the field, where an operand is one or has one.
    void keep(ir::ExprId id, Factors factors, const std::vector<ir::ExprId>& operands) {
        forms_[id.index] = std::move(factors);
        for (const ir::ExprId operand : operands) {
            const bool is_term = !reads(operand) && !is_none(value(operand));
            if (!is_term && !constant_.contains(operand.index)) continue;
            constant_.insert(id.index);
            places_[id.index] = places_[operand.index];
            return;
        }
    }

    void fail(const ir::Expr& expr) { result_.fault = LinearForm::Fault{expr.where, false}; }

    Arithmetic& arithmetic_;
    const ir::Program& program_;
    ir::FieldId field_;
    LinearForm result_;
    std::unordered_map<std::uint32_t, Factors> forms_;  // of expressions that read the field
    std::set<std::uint32_t> constant_;                  // of these: with a term that does not
    std::unordered_map<std::uint32_t, SourceRange> places_;
};

}  // namespace

LinearForm linear_form(Arithmetic& arithmetic, ir::ExprId expr, ir::FieldId field) {
    return FormFinder(arithmetic, field).find(expr);
}

}  // namespace halo::sema
