#include "compiler/kernel/simplify.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "compiler/kernel/build.h"
#include "compiler/kernel/rewrite.h"
#include "compiler/kernel/walk.h"

namespace halo::kernel {

namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 61;  // as good as without end
constexpr Interval kAnything{-kFar, kFar};

// Of sums of two such ends, which 64 bits hold.
Interval within(std::int64_t low, std::int64_t high) {
    return {std::clamp(low, -kFar, kFar), std::clamp(high, -kFar, kFar)};
}
bool is_bounded(const Interval& interval) {
    return interval.low > -kFar && interval.high < kFar;
}

Interval product(const Interval& a, const Interval& b) {
    if (!is_bounded(a) || !is_bounded(b)) return kAnything;
    Interval result{kFar, -kFar};
    for (const std::int64_t x : {a.low, a.high}) {
        for (const std::int64_t y : {b.low, b.high}) {
            std::int64_t end = 0;
            if (__builtin_mul_overflow(x, y, &end)) return kAnything;
            result = {std::min(result.low, end), std::max(result.high, end)};
        }
    }
    return within(result.low, result.high);
}

std::optional<bool> holds(Operator op, const Interval& a, const Interval& b) {
    const auto decided = [](bool always, bool never) {
        return always ? std::optional(true) : never ? std::optional(false) : std::nullopt;
    };
    switch (op) {
        case Operator::less:
            return decided(a.high < b.low, a.low >= b.high);
        case Operator::less_equal:
            return decided(a.high <= b.low, a.low > b.high);
        case Operator::greater:
            return decided(a.low > b.high, a.high <= b.low);
        case Operator::greater_equal:
            return decided(a.low >= b.high, a.high < b.low);
        default:
            return std::nullopt;
    }
}

Operator opposite(Operator op) {
    switch (op) {
        case Operator::less:
            return Operator::greater_equal;
        case Operator::less_equal:
            return Operator::greater;
        case Operator::greater:
            return Operator::less_equal;
        default:
            return Operator::less;
    }
}

bool is_order(Operator op) {
    return op == Operator::less || op == Operator::less_equal || op == Operator::greater ||
           op == Operator::greater_equal;
}

bool is_integer_expr(const Expr& expr) {
    return is_integer(expr.type());
}

class Simplifier {
public:
    explicit Simplifier(const Known& known) : known_(known), variables_(known.variables) {}

    Block run(const Block& body) {
        for_each_statement(body, [&](const Statement& statement) {
            const auto* declare = std::get_if<Declare>(&statement.kind);
            if (declare != nullptr && declare->mutable_value) mutable_.insert(declare->name);
            const std::string name = name_declared(statement);
            if (!name.empty()) ++declared_[name];
        });
        return block(body);
    }

private:
    // ---- what is known of values

    Interval interval(const Expr& expr) const {
        if (expr.type() == Type::boolean) {
            const std::optional<bool> truth = truth_of(expr);
            return truth ? Interval{*truth, *truth} : Interval{0, 1};
        }
        if (!is_integer_expr(expr)) return kAnything;
        return std::visit([&](const auto& node) { return of(node); }, expr->kind);
    }

    template <class Node>
    Interval of(const Node&) const {
        return kAnything;
    }
    Interval of(const IntLiteral& node) const { return {node.value, node.value}; }
    Interval of(const Variable& node) const {
        const auto found = variables_.find(node.name);
        return found == variables_.end() ? kAnything : found->second;
    }
    Interval of(const BuiltinIndex& node) const {
        const auto found = known_.builtins.find(node.builtin);
        return found == known_.builtins.end() ? Interval{0, kFar} : found->second;
    }
    Interval of(const Negate& node) const {
        const Interval inner = interval(node.operand);
        return within(-inner.high, -inner.low);
    }
    Interval of(const Convert& node) const {
        return is_integer_expr(node.operand) || node.operand.type() == Type::boolean ? interval(node.operand)
                                                                                     : kAnything;
    }
    Interval of(const Binary& node) const {
        const Interval a = interval(node.left), b = interval(node.right);
        switch (node.op) {
            case Operator::add:
                return within(a.low + b.low, a.high + b.high);
            case Operator::sub:
                return within(a.low - b.high, a.high - b.low);
            case Operator::mul:
                return product(a, b);
            case Operator::div:
                if (b.low != b.high || b.low <= 0 || !is_bounded(a)) return kAnything;
                return {a.low / b.low, a.high / b.low};
            case Operator::mod:
                if (b.low != b.high || b.low <= 0 || a.low < 0) return kAnything;
                return {0, std::min(a.high, b.low - 1)};
            default:
                return kAnything;
        }
    }
    Interval of(const Select& node) const {
        const Interval a = interval(node.then), b = interval(node.otherwise);
        return {std::min(a.low, b.low), std::max(a.high, b.high)};
    }
    Interval of(const Call& node) const {
        if (node.arguments.size() != 2) return kAnything;
        const Interval a = interval(node.arguments[0]), b = interval(node.arguments[1]);
        if (node.function == Function::min) return {std::min(a.low, b.low), std::min(a.high, b.high)};
        if (node.function == Function::max) return {std::max(a.low, b.low), std::max(a.high, b.high)};
        return kAnything;
    }

    std::optional<bool> truth_of(const Expr& expr) const {
        if (const auto* literal = std::get_if<IntLiteral>(&expr->kind)) return literal->value != 0;
        if (const auto* variable = std::get_if<Variable>(&expr->kind)) {
            const auto found = variables_.find(variable->name);
            if (found == variables_.end() || found->second.low != found->second.high) return std::nullopt;
            return found->second.low != 0;
        }
        if (const auto* no = std::get_if<Not>(&expr->kind)) {
            const std::optional<bool> inner = truth_of(no->operand);
            return inner ? std::optional(!*inner) : std::nullopt;
        }
        const auto* binary = std::get_if<Binary>(&expr->kind);
        if (binary == nullptr) return std::nullopt;
        if (binary->op == Operator::logical_and || binary->op == Operator::logical_or) {
            const bool decides = binary->op == Operator::logical_or;
            const std::optional<bool> a = truth_of(binary->left), b = truth_of(binary->right);
            if (a == decides || b == decides) return decides;
            return a && b ? std::optional(!decides) : std::nullopt;
        }
        if (!is_integer_expr(binary->left) || !is_integer_expr(binary->right)) return std::nullopt;
        return holds(binary->op, interval(binary->left), interval(binary->right));
    }

    // From here on the condition is known to hold, or not to.
    void assume(const Expr& condition, bool truth) {
        if (const auto* no = std::get_if<Not>(&condition->kind)) return assume(no->operand, !truth);
        const auto* binary = std::get_if<Binary>(&condition->kind);
        if (binary == nullptr) return;
        const bool is_pair = binary->op == (truth ? Operator::logical_and : Operator::logical_or);
        if (is_pair) {
            assume(binary->left, truth);
            assume(binary->right, truth);
        }
        if (!is_order(binary->op) || !is_integer_expr(binary->left)) return;
        limit(binary->left, truth ? binary->op : opposite(binary->op), interval(binary->right));
    }

    // value op bound, where the value is a variable, and so much more or less.
    void limit(const Expr& value, Operator op, Interval bound) {
        if (const auto* sum = std::get_if<Binary>(&value->kind)) {
            const Interval more = interval(sum->right);
            if (more.low != more.high || (sum->op != Operator::add && sum->op != Operator::sub)) return;
            const std::int64_t shift = sum->op == Operator::add ? -more.low : more.low;
            return limit(sum->left, op, within(bound.low + shift, bound.high + shift));
        }
        const auto* variable = std::get_if<Variable>(&value->kind);
        if (variable == nullptr || mutable_.count(variable->name) != 0) return;
        Interval& known = variables_.try_emplace(variable->name, kAnything).first->second;
        if (op == Operator::less) known.high = std::min(known.high, bound.high - 1);
        if (op == Operator::less_equal) known.high = std::min(known.high, bound.high);
        if (op == Operator::greater) known.low = std::max(known.low, bound.low + 1);
        if (op == Operator::greater_equal) known.low = std::max(known.low, bound.low);
        if (known.low > known.high) known = kAnything;  // never reached: whatever is said of it holds
    }

    // ---- what is left of expressions

    Expr simple(const Expr& expr) const {
        if (!expr.has_value()) return expr;
        if (expr.type() == Type::boolean && !std::holds_alternative<IntLiteral>(expr->kind)) {
            if (const std::optional<bool> truth = truth_of(expr)) return int_literal(*truth, Type::boolean);
        }
        if (const auto* binary = std::get_if<Binary>(&expr->kind)) {
            const bool is_and = binary->op == Operator::logical_and;
            if (is_and || binary->op == Operator::logical_or) {
                const auto is_idle = [&](const Expr& side) { return truth_of(side) == is_and; };
                if (is_idle(binary->left)) return simple(binary->right);
                if (is_idle(binary->right)) return simple(binary->left);
            }
        }
        if (const auto* select = std::get_if<Select>(&expr->kind)) {
            if (const std::optional<bool> truth = truth_of(select->condition))
                return simple(*truth ? select->then : select->otherwise);
        }
        if (const auto* call = std::get_if<Call>(&expr->kind)) {
            const bool is_min = call->function == Function::min, is_max = call->function == Function::max;
            if ((is_min || is_max) && is_integer_expr(expr) && call->arguments.size() == 2) {
                const Expr &a = call->arguments[0], &b = call->arguments[1];
                const std::optional<bool> below = holds(Operator::less_equal, interval(a), interval(b));
                const std::optional<bool> above = holds(Operator::greater_equal, interval(a), interval(b));
                if (below == true) return convert(simple(is_min ? a : b), expr.type());
                if (above == true) return convert(simple(is_min ? b : a), expr.type());
            }
        }
        return with_operands(expr, [this](const Expr& operand) { return simple(operand); });
    }

    // ---- what is left of statements

    Block block(const Block& body) {
        const std::map<std::string, Interval> outside = variables_;
        Block result;
        for (const Statement& each : body)
            add(each, result);
        variables_ = outside;
        return tidied(std::move(result));
    }

    // Those of a block that is done in any case; in a scope of its own where other blocks have its names.
    void splice(const Block& body, Block& result) {
        const bool is_taken = std::ranges::any_of(body, [&](const Statement& each) {
            return !std::holds_alternative<For>(each.kind) && declared_[name_declared(each)] > 1;
        });
        if (is_taken) {
            result.push_back(Scope{block(body)});
            return;
        }
        for (const Statement& each : body)
            add(each, result);
    }

    static std::string name_declared(const Statement& statement) {
        if (const auto* declare = std::get_if<Declare>(&statement.kind)) return declare->name;
        if (const auto* declare = std::get_if<DeclarePointer>(&statement.kind)) return declare->name;
        if (const auto* declare = std::get_if<DeclareArray>(&statement.kind)) return declare->name;
        if (const auto* declare = std::get_if<DeclareLambda>(&statement.kind)) return declare->name;
        if (const auto* loop = std::get_if<For>(&statement.kind)) return loop->var;
        return "";
    }

    void add(const Statement& statement, Block& result) {
        if (const auto* choice = std::get_if<If>(&statement.kind)) return add_if(*choice, result);
        Statement simpler = with_exprs(statement, [this](const Expr& expr) { return simple(expr); });
        if (auto* declare = std::get_if<Declare>(&simpler.kind)) {
            // Not where it is declared again: each branch and turn has its own.
            variables_.erase(declare->name);
            if (!declare->mutable_value && (is_integer(declare->type) || declare->type == Type::boolean))
                variables_[declare->name] = interval(declare->value);
        }
        if (auto* loop = std::get_if<For>(&simpler.kind)) {
            const std::map<std::string, Interval> outside = variables_;
            const Interval begin = interval(loop->begin), end = interval(loop->end);
            variables_.erase(loop->var);
            if (interval(loop->step).low >= 1)
                variables_[loop->var] = {begin.low, std::max(begin.low, end.high - 1)};
            loop->body = block(loop->body);
            variables_ = outside;
        }
        if (auto* scope = std::get_if<Scope>(&simpler.kind)) scope->body = block(scope->body);
        if (auto* lambda = std::get_if<DeclareLambda>(&simpler.kind)) {
            const std::map<std::string, Interval> outside = variables_;
            for (const LambdaParameter& parameter : lambda->parameters)
                variables_.erase(parameter.name);
            lambda->body = block(lambda->body);
            variables_ = outside;
        }
        result.push_back(std::move(simpler));
    }

    void add_if(const If& choice, Block& result) {
        if (const std::optional<bool> truth = truth_of(choice.condition))
            return splice(*truth ? choice.then : choice.otherwise, result);
        If simpler;
        simpler.condition = simple(choice.condition);
        const std::map<std::string, Interval> outside = variables_;
        assume(choice.condition, true);
        simpler.then = block(choice.then);
        variables_ = outside;
        assume(choice.condition, false);
        simpler.otherwise = block(choice.otherwise);
        const bool returns = !choice.then.empty() && std::holds_alternative<Return>(choice.then.back().kind);
        if (!returns) variables_ = outside;  // else the rest is for those that have not returned
        result.push_back(std::move(simpler));
    }

    // No blank lines at an end, and no two together.
    static Block tidied(Block body) {
        Block result;
        for (Statement& each : body) {
            const bool is_blank = std::holds_alternative<BlankLine>(each.kind);
            if (is_blank && (result.empty() || std::holds_alternative<BlankLine>(result.back().kind)))
                continue;
            result.push_back(std::move(each));
        }
        if (!result.empty() && std::holds_alternative<BlankLine>(result.back().kind)) result.pop_back();
        return result;
    }

    const Known& known_;
    std::map<std::string, Interval> variables_;  // those that never change
    std::set<std::string> mutable_;
    std::map<std::string, int> declared_;  // how often, in the whole function
};

std::set<std::string> names_read(const Block& body) {
    std::set<std::string> names;
    for_each_expr(body, [&](const Expr& expr) {
        if (const auto* variable = std::get_if<Variable>(&expr->kind)) names.insert(variable->name);
        if (const auto* element = std::get_if<Element>(&expr->kind)) names.insert(element->array);
        if (const auto* address = std::get_if<AddressOf>(&expr->kind)) names.insert(address->array);
    });
    return names;
}

Block without_names(const Block& body, const std::set<std::string>& idle) {
    Block result;
    for (const Statement& each : body) {
        const auto* declare = std::get_if<Declare>(&each.kind);
        if (declare != nullptr && idle.count(declare->name) != 0) continue;
        Statement kept = each;
        if (auto* loop = std::get_if<For>(&kept.kind)) loop->body = without_names(loop->body, idle);
        if (auto* scope = std::get_if<Scope>(&kept.kind)) scope->body = without_names(scope->body, idle);
        if (auto* lambda = std::get_if<DeclareLambda>(&kept.kind))
            lambda->body = without_names(lambda->body, idle);
        if (auto* choice = std::get_if<If>(&kept.kind)) {
            choice->then = without_names(choice->then, idle);
            choice->otherwise = without_names(choice->otherwise, idle);
        }
        result.push_back(std::move(kept));
    }
    return result;
}

}  // namespace

void simplify(KernelFunction& function, const Known& known) {
    Known inside = known;
    for (const NamedConstant& constant : function.constants)
        inside.variables[constant.name] = {constant.value, constant.value};
    const std::set<std::string> before = names_read(function.body);
    function.body = Simplifier(inside).run(function.body);
    for (bool is_done = false; !is_done;) {  // what only idle ones read is idle, too
        const std::set<std::string> after = names_read(function.body);
        std::set<std::string> idle;
        std::ranges::set_difference(before, after, std::inserter(idle, idle.end()));
        const std::size_t constants = function.constants.size();
        std::erase_if(function.constants,
                      [&](const NamedConstant& constant) { return idle.count(constant.name) != 0; });
        Block rest = without_names(function.body, idle);
        is_done = names_read(rest) == after && constants == function.constants.size();
        function.body = std::move(rest);
    }
}

}  // namespace halo::kernel
