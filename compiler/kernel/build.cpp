#include "compiler/kernel/build.h"

#include <array>
#include <utility>

#include "compiler/kernel/helpers.h"
#include "compiler/support/error.h"

namespace halo::kernel {
namespace {

template <class Kind>
Expr make(Type type, Kind kind) {
    return Expr(std::make_shared<const Node>(Node{type, std::move(kind)}));
}

// i32 with i64 gives i64; everything else must agree.
Type common_type(const Expr& left, const Expr& right) {
    if (left.type() == right.type()) return left.type();
    if (is_integer(left.type()) && is_integer(right.type())) return Type::i64;
    throw InternalError("kernel expression of mixed types");
}

// x + literal, split.
std::pair<Expr, std::int64_t> split_literal(const Expr& expr) {
    if (const auto literal = int_value(expr)) return {Expr(), *literal};
    if (const auto* sum = std::get_if<Binary>(&expr->kind)) {
        const auto literal = int_value(sum->right);
        if (literal && sum->op == Operator::add) return {sum->left, *literal};
        if (literal && sum->op == Operator::sub) return {sum->left, -*literal};
    }
    return {expr, 0};
}

Expr sum_of(Operator op, Expr left, Expr right) {
    const Type type = common_type(left, right);
    return make(type, Binary{op, std::move(left), std::move(right)});
}

Expr add_integers(const Expr& left, const Expr& right, bool subtract, Type type) {
    auto [a, m] = split_literal(left);
    auto [b, n] = split_literal(right);
    const std::int64_t literal = subtract ? m - n : m + n;
    // a + (b + c) reads better as a + b + c.
    const auto* inner = b.has_value() ? std::get_if<Binary>(&b->kind) : nullptr;
    if (a.has_value() && !subtract && inner && (inner->op == Operator::add || inner->op == Operator::sub)) {
        const Expr start = add_integers(a, inner->left, false, type);
        const Expr all = add_integers(start, inner->right, inner->op == Operator::sub, type);
        return literal ? add_integers(all, int_literal(literal), false, type) : all;
    }
    Expr sum = a;
    if (b) {
        if (!a && !subtract) {
            sum = b;
        } else if (!a) {
            return sum_of(Operator::sub, int_literal(literal, type), b);
        } else {
            sum = sum_of(subtract ? Operator::sub : Operator::add, a, b);
        }
    }
    if (!sum) return int_literal(literal, type);
    if (literal == 0) return sum;
    return literal > 0 ? sum_of(Operator::add, sum, int_literal(literal))
                       : sum_of(Operator::sub, sum, int_literal(-literal));
}

Expr compare(Operator op, Expr left, Expr right) {
    if (const auto a = int_value(left), b = int_value(right); a && b) {
        const bool truth = op == Operator::less            ? *a < *b
                           : op == Operator::less_equal    ? *a <= *b
                           : op == Operator::greater       ? *a > *b
                           : op == Operator::greater_equal ? *a >= *b
                           : op == Operator::equal         ? *a == *b
                                                           : *a != *b;
        return make(Type::boolean, IntLiteral{truth});
    }
    common_type(left, right);
    return make(Type::boolean, Binary{op, std::move(left), std::move(right)});
}

// a && (b && c) is a && b && c: what is evaluated, and when, is the same.
Expr join(Operator op, Expr left, const Expr& right) {
    const auto* inner = std::get_if<Binary>(&right->kind);
    if (inner && inner->op == op) return join(op, join(op, std::move(left), inner->left), inner->right);
    return make(Type::boolean, Binary{op, std::move(left), right});
}

}  // namespace

Expr::Expr(int literal) : Expr(int_literal(literal)) {}

Type Expr::type() const {
    return node_->type;
}

Expr int_literal(std::int64_t value, Type type) {
    return make(type, IntLiteral{value});
}
Expr real_literal(double value, Type type) {
    return make(type, RealLiteral{value});
}
Expr variable(std::string name, Type type) {
    return make(type, Variable{std::move(name)});
}
Expr builtin(Builtin index) {
    return make(Type::i32, BuiltinIndex{index});
}

Expr thread_index(int axis) {
    static constexpr std::array kAxes{Builtin::thread_x, Builtin::thread_y, Builtin::thread_z};
    return builtin(kAxes.at(static_cast<std::size_t>(axis)));
}
Expr block_index(int axis) {
    static constexpr std::array kAxes{Builtin::block_x, Builtin::block_y, Builtin::block_z};
    return builtin(kAxes.at(static_cast<std::size_t>(axis)));
}
Expr element(std::string array, std::vector<Expr> indices, Type type) {
    return make(type, Element{std::move(array), std::move(indices)});
}
Expr address_of(std::string array, Expr index, Type type, std::vector<Expr> rows) {
    return make(type, AddressOf{std::move(array), std::move(index), std::move(rows)});
}
Expr convert(Expr operand, Type type) {
    if (operand.type() == type) return operand;
    if (const auto literal = int_value(operand); literal && is_integer(type)) {
        return int_literal(*literal, type);
    }
    return make(type, Convert{std::move(operand)});
}
Expr select(Expr condition, Expr then, Expr otherwise) {
    const Type type = common_type(then, otherwise);
    return make(type, Select{std::move(condition), std::move(then), std::move(otherwise)});
}
Expr call(Function function, std::vector<Expr> arguments, bool fast) {
    const Type type = arguments.front().type();
    return make(type, Call{function, std::move(arguments), fast});
}
Expr call_helper(Helper helper, std::vector<Expr> arguments) {
    const auto& result = shape_of(helper).result;
    if (!result) throw InternalError("helper " + shape_of(helper).name + " has no value");
    return make(*result, CallHelper{helper, std::move(arguments)});
}
Expr call_lambda(std::string lambda, std::vector<Expr> arguments, Type type) {
    return make(type, CallLambda{std::move(lambda), std::move(arguments)});
}

Expr shuffle(Shuffle::From from, Expr operand, Expr index) {
    const Type type = operand.type();
    return make(type, Shuffle{from, std::move(operand), std::move(index)});
}
Expr logical_not(Expr operand) {
    return make(Type::boolean, Not{std::move(operand)});
}

Expr operation(Operator op, Expr left, Expr right) {
    const Type type = common_type(left, right);
    return make(type, Binary{op, std::move(left), std::move(right)});
}

Expr operator+(Expr left, Expr right) {
    const Type type = common_type(left, right);
    if (is_integer(type)) return add_integers(left, right, false, type);
    return make(type, Binary{Operator::add, std::move(left), std::move(right)});
}
Expr operator-(Expr left, Expr right) {
    const Type type = common_type(left, right);
    if (is_integer(type)) return add_integers(left, right, true, type);
    return make(type, Binary{Operator::sub, std::move(left), std::move(right)});
}
Expr operator*(Expr left, Expr right) {
    const Type type = common_type(left, right);
    if (is_integer(type)) {
        if (int_value(left) == 0 || int_value(right) == 0) return int_literal(0, type);
        if (int_value(left) == 1) return right;
        if (int_value(right) == 1) return left;
        if (const auto a = int_value(left), b = int_value(right); a && b) return int_literal(*a * *b, type);
    }
    return make(type, Binary{Operator::mul, std::move(left), std::move(right)});
}
Expr operator/(Expr left, Expr right) {
    const Type type = common_type(left, right);
    if (is_integer(type) && int_value(right) == 1) return left;
    return make(type, Binary{Operator::div, std::move(left), std::move(right)});
}
Expr operator%(Expr left, Expr right) {
    const Type type = common_type(left, right);
    if (const auto a = int_value(left), b = int_value(right); a && b && *a >= 0 && *b > 0) {
        return int_literal(*a % *b, type);
    }
    return make(type, Binary{Operator::mod, std::move(left), std::move(right)});
}
Expr operator-(Expr operand) {
    const Type type = operand.type();
    if (const auto literal = int_value(operand)) return int_literal(-*literal, type);
    return make(type, Negate{std::move(operand)});
}
Expr operator<(Expr left, Expr right) {
    return compare(Operator::less, std::move(left), std::move(right));
}
Expr operator<=(Expr left, Expr right) {
    return compare(Operator::less_equal, std::move(left), std::move(right));
}
Expr operator>(Expr left, Expr right) {
    return compare(Operator::greater, std::move(left), std::move(right));
}
Expr operator>=(Expr left, Expr right) {
    return compare(Operator::greater_equal, std::move(left), std::move(right));
}
Expr operator==(Expr left, Expr right) {
    return compare(Operator::equal, std::move(left), std::move(right));
}
Expr operator!=(Expr left, Expr right) {
    return compare(Operator::not_equal, std::move(left), std::move(right));
}
Expr operator&&(Expr left, Expr right) {
    if (!left) return right;
    if (!right) return left;
    return join(Operator::logical_and, std::move(left), right);
}
Expr operator||(Expr left, Expr right) {
    if (!left) return right;
    if (!right) return left;
    return join(Operator::logical_or, std::move(left), right);
}
Expr min(Expr left, Expr right) {
    common_type(left, right);
    return call(Function::min, {std::move(left), std::move(right)});
}
Expr max(Expr left, Expr right) {
    common_type(left, right);
    return call(Function::max, {std::move(left), std::move(right)});
}

std::optional<std::int64_t> int_value(const Expr& expr) {
    const auto* literal = std::get_if<IntLiteral>(&expr->kind);
    return literal ? std::optional(literal->value) : std::nullopt;
}

}  // namespace halo::kernel
