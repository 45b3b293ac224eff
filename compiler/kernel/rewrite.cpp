#include "compiler/kernel/rewrite.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "compiler/kernel/build.h"

namespace halo::kernel {

namespace {

using Change = std::function<Expr(const Expr&)>;

template <class Kind>
Kind changed(Kind node, const Change& change) {
    constexpr bool has_operand = requires { node.operand; };
    constexpr bool has_index = requires { node.index; };
    constexpr bool has_indices = requires { node.indices; };
    constexpr bool has_rows = requires { node.rows; };
    constexpr bool has_arguments = requires { node.arguments; };
    if constexpr (has_operand) node.operand = change(node.operand);
    if constexpr (has_index) node.index = change(node.index);
    if constexpr (has_indices)
        for (Expr& index : node.indices)
            index = change(index);
    if constexpr (has_rows)
        for (Expr& row : node.rows)
            row = change(row);
    if constexpr (has_arguments)
        for (Expr& argument : node.arguments)
            argument = change(argument);
    if constexpr (std::is_same_v<Kind, Binary>) {
        node.left = change(node.left);
        node.right = change(node.right);
    }
    if constexpr (std::is_same_v<Kind, Select>) {
        node.condition = change(node.condition);
        node.then = change(node.then);
        node.otherwise = change(node.otherwise);
    }
    return node;
}

}  // namespace

Expr with_operands(const Expr& expr, const Change& change) {
    bool is_same = true;
    const auto watched = [&](const Expr& operand) {
        Expr other = change(operand);
        is_same = is_same && (!operand.has_value() || &*other == &*operand);
        return other;
    };
    Node node{expr.type(),
              std::visit([&](const auto& kind) { return decltype(Node::kind)(changed(kind, watched)); },
                         expr->kind)};
    return is_same ? expr : Expr(std::make_shared<const Node>(std::move(node)));
}

Statement with_exprs(const Statement& statement, const Change& change) {
    return std::visit(
        [&](auto node) -> Statement {
            using Kind = decltype(node);
            if constexpr (std::is_same_v<Kind, Declare> || std::is_same_v<Kind, DeclarePointer>)
                node.value = change(node.value);
            if constexpr (std::is_same_v<Kind, DeclareLambda>)
                if (node.value) node.value = change(node.value);
            if constexpr (std::is_same_v<Kind, AdvancePointer>) node.by = change(node.by);
            if constexpr (std::is_same_v<Kind, DeclareArray>) {
                for (Expr& dim : node.dims)
                    dim = change(dim);
                if (node.from) node.from = change(node.from);
            }
            if constexpr (std::is_same_v<Kind, Assign>) {
                node.target = change(node.target);
                node.value = change(node.value);
            }
            if constexpr (std::is_same_v<Kind, LoadVector> || std::is_same_v<Kind, CopyVector> ||
                          std::is_same_v<Kind, CopyAsync> || std::is_same_v<Kind, StoreVector>) {
                node.to = change(node.to);
                node.from = change(node.from);
            }
            if constexpr (std::is_same_v<Kind, StoreLine>) {
                node.to = change(node.to);
                node.from = change(node.from);
                node.passes_caches = change(node.passes_caches);
            }
            if constexpr (std::is_same_v<Kind, Prefetch>) node.from = change(node.from);
            if constexpr (std::is_same_v<Kind, CopyCells>) {
                node.to = change(node.to);
                node.from = change(node.from);
                node.count = change(node.count);
            }
            if constexpr (std::is_same_v<Kind, FillCells>) {
                node.to = change(node.to);
                node.value = change(node.value);
                node.count = change(node.count);
            }
            if constexpr (std::is_same_v<Kind, For>) {
                node.begin = change(node.begin);
                node.end = change(node.end);
                node.step = change(node.step);
            }
            if constexpr (std::is_same_v<Kind, If>) node.condition = change(node.condition);
            if constexpr (std::is_same_v<Kind, RunHelper> || std::is_same_v<Kind, RunLambda> ||
                          std::is_same_v<Kind, CallFunction>)
                for (Expr& argument : node.arguments)
                    argument = change(argument);
            return Statement(std::move(node));
        },
        statement.kind);
}

namespace {

// By the operators of build.h, which fold numbers.
Expr folded(const Expr& expr) {
    const auto* binary = std::get_if<Binary>(&expr->kind);
    if (binary == nullptr || !is_integer(binary->left.type()) || !is_integer(binary->right.type()))
        return expr;
    Expr made;
    if (binary->op == Operator::add) made = binary->left + binary->right;
    if (binary->op == Operator::sub) made = binary->left - binary->right;
    if (binary->op == Operator::mul) made = binary->left * binary->right;
    return made.has_value() && made.type() == expr.type() ? made : expr;
}

bool same_all(const std::vector<Expr>& a, const std::vector<Expr>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

template <class Kind>
bool same_kind(const Kind& a, const Kind& b) {
    if constexpr (std::is_same_v<Kind, IntLiteral>) return a.value == b.value;
    if constexpr (std::is_same_v<Kind, RealLiteral>) {
        return std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value);
    }
    if constexpr (std::is_same_v<Kind, Variable>) return a.name == b.name;
    if constexpr (std::is_same_v<Kind, BuiltinIndex>) return a.builtin == b.builtin;
    if constexpr (std::is_same_v<Kind, Element>) return a.array == b.array && same_all(a.indices, b.indices);
    if constexpr (std::is_same_v<Kind, AddressOf>)
        return a.array == b.array && same_all(a.rows, b.rows) && same(a.index, b.index);
    if constexpr (std::is_same_v<Kind, Negate> || std::is_same_v<Kind, Not> || std::is_same_v<Kind, Convert>)
        return same(a.operand, b.operand);
    if constexpr (std::is_same_v<Kind, Binary>)
        return a.op == b.op && same(a.left, b.left) && same(a.right, b.right);
    if constexpr (std::is_same_v<Kind, Select>)
        return same(a.condition, b.condition) && same(a.then, b.then) && same(a.otherwise, b.otherwise);
    if constexpr (std::is_same_v<Kind, Call>)
        return a.function == b.function && a.fast == b.fast && same_all(a.arguments, b.arguments);
    if constexpr (std::is_same_v<Kind, CallHelper>)
        return a.helper == b.helper && same_all(a.arguments, b.arguments);
    if constexpr (std::is_same_v<Kind, CallLambda>)
        return a.lambda == b.lambda && same_all(a.arguments, b.arguments);
    if constexpr (std::is_same_v<Kind, Shuffle>)
        return a.from == b.from && same(a.operand, b.operand) && same(a.index, b.index);
    return false;
}

}  // namespace

bool same(const Expr& a, const Expr& b) {
    if (!a.has_value() || !b.has_value()) return a.has_value() == b.has_value();
    if (&*a == &*b) return true;
    if (a.type() != b.type() || a->kind.index() != b->kind.index()) return false;
    return std::visit(
        [&](const auto& kind) { return same_kind(kind, std::get<std::decay_t<decltype(kind)>>(b->kind)); },
        a->kind);
}

namespace {

// In a block and all that is in it.
Block with_all_exprs(const Block& body, const Change& change) {
    Block result;
    for (const Statement& each : body) {
        Statement kept = with_exprs(each, change);
        if (auto* loop = std::get_if<For>(&kept.kind)) loop->body = with_all_exprs(loop->body, change);
        if (auto* scope = std::get_if<Scope>(&kept.kind)) scope->body = with_all_exprs(scope->body, change);
        if (auto* lambda = std::get_if<DeclareLambda>(&kept.kind))
            lambda->body = with_all_exprs(lambda->body, change);
        if (auto* choice = std::get_if<If>(&kept.kind)) {
            choice->then = with_all_exprs(choice->then, change);
            choice->otherwise = with_all_exprs(choice->otherwise, change);
        }
        result.push_back(std::move(kept));
    }
    return result;
}

// `leaf` gives what stands in the place of an expression of that kind; empty: it stays.
template <class Kind>
Block with_leaves(const Block& body, const std::function<Expr(const Kind&, Type)>& leaf) {
    Change deep;
    deep = [&](const Expr& expr) -> Expr {
        if (!expr.has_value()) return expr;
        if (const auto* kind = std::get_if<Kind>(&expr->kind)) {
            Expr other = leaf(*kind, expr.type());
            return other.has_value() ? other : expr;
        }
        const Expr other = with_operands(expr, deep);
        return &*other == &*expr ? expr : folded(other);
    };
    return with_all_exprs(body, deep);
}

}  // namespace

Block with_variables(const Block& body, const std::function<Expr(const Variable&, Type)>& change) {
    return with_leaves<Variable>(body, change);
}

Block with_builtins(const Block& body, const std::function<Expr(Builtin)>& change) {
    return with_leaves<BuiltinIndex>(body,
                                     [&](const BuiltinIndex& index, Type) { return change(index.builtin); });
}

}  // namespace halo::kernel
