#include "compiler/adjoint/partials.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "compiler/adjoint/request.h"
#include "compiler/ir/print.h"

namespace halo::adjoint {

using ir::BinaryOp;
using ir::ExprId;
using ir::Function;

namespace {

class Rules {
public:
    Rules(Algebra& algebra, ExprId node, const std::function<bool(ExprId)>& is_varied,
          const std::function<void(const Partial&)>& visit)
        : a_(algebra), node_(node), expr_(algebra.program()[node]), is_varied_(is_varied), visit_(visit) {}

    void run() {
        std::visit([&](const auto& node) { rule(node); }, expr_.node);
    }

private:
    ExprId number(const Rational& value) { return a_.number(value, expr_.type); }

    void factor(ExprId operand, ExprId value) {
        if (is_varied_(operand)) visit_({operand, Partial::Kind::factor, value, std::nullopt, true});
    }
    void factor(ExprId operand, const Rational& value) { factor(operand, number(value)); }
    void quotient(ExprId operand, ExprId value) {
        if (is_varied_(operand)) visit_({operand, Partial::Kind::quotient, value, std::nullopt, true});
    }
    void branch(ExprId operand, ExprId where, bool holds) {
        if (is_varied_(operand)) visit_({operand, Partial::Kind::factor, number(1), where, holds});
    }
    void refuse_if_varied(ExprId operand, const std::string& what) {
        if (!is_varied_(operand)) return;
        throw RefusedError(expr_.where, fmt::format("{} has no derivative", what),
                           "leave it out, or differentiate with respect to what it does not depend on");
    }

    template <class Leaf>
    void rule(const Leaf&) {}

    void rule(const ir::Unary& unary) {
        if (unary.op == ir::UnaryOp::negate) factor(unary.operand, Rational(-1));
        if (unary.op != ir::UnaryOp::convert) return;
        if (ir::is_real(a_.program()[unary.operand].type)) {
            factor(unary.operand, Rational(1));
        } else {
            refuse_if_varied(unary.operand, "what is rounded to a whole number");
        }
    }
    void rule(const ir::Binary& binary) {
        const auto [op, left, right] = binary;
        switch (op) {
            case BinaryOp::add:
                factor(left, Rational(1));
                return factor(right, Rational(1));
            case BinaryOp::sub:
                factor(left, Rational(1));
                return factor(right, Rational(-1));
            case BinaryOp::mul:
                factor(left, right);
                return factor(right, left);
            case BinaryOp::div:
                quotient(left, right);
                if (is_varied_(right)) factor(right, a_.negate(a_.div(node_, right)));
                return;
            case BinaryOp::min:
            case BinaryOp::max: {
                const ExprId takes_left =
                    a_.compare(op == BinaryOp::min ? BinaryOp::less : BinaryOp::greater, left, right);
                branch(left, takes_left, true);
                return branch(right, takes_left, false);
            }
            default:
                refuse_if_varied(left, fmt::format("`{}`", ir::name_of(op)));
                return refuse_if_varied(right, fmt::format("`{}`", ir::name_of(op)));
        }
    }
    void rule(const ir::Fma& fma) {
        factor(fma.a, fma.b);
        factor(fma.b, fma.a);
        factor(fma.c, Rational(1));
    }
    void rule(const ir::Select& select) {
        branch(select.then, select.condition, true);
        branch(select.otherwise, select.condition, false);
    }
    void rule(const ir::Call& call) {
        const ExprId x = call.arguments.front();
        const auto of = [&](Function function, ExprId argument) {
            return a_.builder().call(function, {argument});
        };
        const ExprId one = number(1);
        const auto square = [&](ExprId value) { return a_.mul(value, value); };
        switch (call.function) {
            case Function::sqrt:
                return quotient(x, a_.mul(number(2), node_));
            case Function::rsqrt:
                return factor(x, a_.mul(number(Rational(-1, 2)), a_.div(node_, x)));
            case Function::cbrt:
                return quotient(x, a_.mul(number(3), square(node_)));
            case Function::exp:
                return factor(x, node_);
            case Function::log:
                return quotient(x, x);
            case Function::sin:
                return factor(x, of(Function::cos, x));
            case Function::cos:
                return factor(x, a_.negate(of(Function::sin, x)));
            case Function::tan:
                return factor(x, a_.add(one, square(node_)));
            case Function::asin:
                return quotient(x, of(Function::sqrt, a_.sub(one, square(x))));
            case Function::acos:
                return quotient(x, a_.negate(of(Function::sqrt, a_.sub(one, square(x)))));
            case Function::atan:
                return quotient(x, a_.add(one, square(x)));
            case Function::sinh:
                return factor(x, of(Function::cosh, x));
            case Function::cosh:
                return factor(x, of(Function::sinh, x));
            case Function::tanh:
                return factor(x, a_.sub(one, square(node_)));
            case Function::abs: {
                const ExprId zero = number(0);
                return factor(x, a_.select(a_.compare(BinaryOp::greater, x, zero), one,
                                           a_.select(a_.compare(BinaryOp::less, x, zero), number(-1), zero)));
            }
            case Function::erf: {
                const Rational scale = Rational::from_double(2 / std::sqrt(std::numbers::pi));
                return factor(x, a_.mul(number(scale), of(Function::exp, a_.negate(square(x)))));
            }
            case Function::pow: {
                const ExprId power = call.arguments[1];
                const ExprId lower = a_.builder().call(Function::pow, {x, a_.sub(power, one)});
                factor(x, a_.mul(power, lower));
                if (is_varied_(power)) factor(power, a_.mul(node_, of(Function::log, x)));
                return;
            }
            case Function::atan2: {
                const ExprId below = call.arguments[1];
                const ExprId size = a_.add(square(x), square(below));
                factor(x, a_.div(below, size));
                return factor(below, a_.negate(a_.div(x, size)));
            }
            case Function::floor:
            case Function::ceil:
            case Function::round:
            case Function::trunc:
                return refuse_if_varied(x, fmt::format("`{}`", ir::name_of(call.function)));
        }
    }

    Algebra& a_;
    ExprId node_;
    const ir::Expr expr_;  // a copy: the arena grows
    const std::function<bool(ExprId)>& is_varied_;
    const std::function<void(const Partial&)>& visit_;
};

}  // namespace

void for_each_partial(Algebra& algebra, ExprId node, const std::function<bool(ExprId)>& is_varied,
                      const std::function<void(const Partial&)>& visit) {
    Rules(algebra, node, is_varied, visit).run();
}

}  // namespace halo::adjoint
