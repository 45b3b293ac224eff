#include "compiler/kernel/tidy.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "compiler/kernel/build.h"
#include "compiler/kernel/rewrite.h"
#include "compiler/kernel/walk.h"

namespace halo::kernel {

namespace {

// Names that a block declares itself, not within other blocks.
bool declares(const Block& body) {
    return std::ranges::any_of(body, [](const Statement& each) {
        return std::holds_alternative<Declare>(each.kind) ||
               std::holds_alternative<DeclarePointer>(each.kind) ||
               std::holds_alternative<DeclareArray>(each.kind) ||
               std::holds_alternative<DeclareLambda>(each.kind);
    });
}

// How often a block's expressions say the name.
int mentions(const Block& body, const std::string& name) {
    int count = 0;
    for_each_expr(body, [&](const Expr& expr) {
        const auto* variable = std::get_if<Variable>(&expr->kind);
        if (variable != nullptr && variable->name == name) ++count;
    });
    return count;
}

// A constant that is declared only to be stored by the next statement needs no name: the value is stored.
void store_directly(Block& body) {
    for (std::size_t at = 0; at + 1 < body.size(); ++at) {
        const auto* declare = std::get_if<Declare>(&body[at].kind);
        auto* assign = std::get_if<Assign>(&body[at + 1].kind);
        if (declare == nullptr || assign == nullptr || declare->mutable_value) continue;
        const auto* stored = std::get_if<Variable>(&assign->value->kind);
        if (stored == nullptr || stored->name != declare->name || mentions(body, declare->name) != 1)
            continue;
        if (declare->value.type() != declare->type) continue;  // the declaration converts
        assign->value = declare->value;
        body.erase(body.begin() + static_cast<std::ptrdiff_t>(at));
    }
}

bool is_arithmetic(const Expr& value) {
    bool is_pure = true;
    for_each_expr(value, [&](const Expr& expr) {
        is_pure = is_pure && !std::holds_alternative<Element>(expr->kind) &&
                  !std::holds_alternative<CallHelper>(expr->kind) &&
                  !std::holds_alternative<CallLambda>(expr->kind) &&
                  !std::holds_alternative<Shuffle>(expr->kind);
    });
    return is_pure;
}

// A constant that nothing reads is left out, such as the plane of a stage that is computed alike on all
// planes.
void drop_unread(Block& body) {
    for (std::size_t at = body.size(); at-- > 0;) {
        const auto* declare = std::get_if<Declare>(&body[at].kind);
        if (declare != nullptr && !declare->mutable_value && is_arithmetic(declare->value) &&
            mentions(body, declare->name) == 0)
            body.erase(body.begin() + static_cast<std::ptrdiff_t>(at));
    }
}

class Tidier {
public:
    explicit Tidier(const KernelFunction& function) {
        for_each_statement(function.body, [&](const Statement& statement) {
            const auto* declare = std::get_if<Declare>(&statement.kind);
            if (declare != nullptr && declare->mutable_value) mutable_.insert(declare->name);
        });
    }

    Block block(const Block& body) {
        Block result;
        for (const Statement& each : body) {
            Statement made = statement(each);
            if (auto* guard = std::get_if<If>(&made.kind); guard != nullptr && joins(result, *guard))
                continue;
            if (auto* scope = std::get_if<Scope>(&made.kind); scope != nullptr && !declares(scope->body)) {
                std::ranges::move(scope->body, std::back_inserter(result));
                continue;
            }
            result.push_back(std::move(made));
        }
        store_directly(result);
        drop_unread(result);
        // Braces within braces.
        if (result.size() == 1)
            if (auto* scope = std::get_if<Scope>(&result.front().kind)) {
                Block inner = std::move(scope->body);
                return inner;
            }
        return result;
    }

private:
    Statement statement(const Statement& each) {
        Statement made = each;
        if (auto* scope = std::get_if<Scope>(&made.kind)) scope->body = block(scope->body);
        if (auto* lambda = std::get_if<DeclareLambda>(&made.kind)) lambda->body = block(lambda->body);
        if (auto* guard = std::get_if<If>(&made.kind)) {
            guard->then = block(guard->then);
            guard->otherwise = block(guard->otherwise);
        }
        if (auto* loop = std::get_if<For>(&made.kind)) {
            const auto begin = int_value(loop->begin);
            const auto end = int_value(loop->end);
            const auto step = int_value(loop->step);
            const bool is_one_turn = begin && end && step && *begin < *end && *begin + *step >= *end;
            if (!is_one_turn) {
                loop->body = block(loop->body);
                return made;
            }
            const Expr value = int_literal(*begin, loop->type);
            Block turn = with_variables(loop->body, [&](const Variable& variable, Type) {
                return variable.name == loop->var ? value : Expr();
            });
            return Scope{block(turn)};
        }
        return made;
    }

    // Puts it into the one before, with the comments between them, where both ask the same.
    bool joins(Block& result, If& second) {
        std::size_t comments = 0;
        while (comments < result.size() &&
               std::holds_alternative<Comment>(result[result.size() - 1 - comments].kind))
            ++comments;
        if (comments == result.size()) return false;
        auto* first = std::get_if<If>(&result[result.size() - 1 - comments].kind);
        if (first == nullptr || !can_join(*first, second)) return false;
        const auto words = result.end() - static_cast<std::ptrdiff_t>(comments);
        std::move(words, result.end(), std::back_inserter(first->then));
        join(*first, std::move(second));
        result.erase(words, result.end());
        return true;
    }

    // What is asked is the same both times: the first one changes none of it.
    bool can_join(const If& first, const If& second) const {
        if (!same(first.condition, second.condition)) return false;
        bool is_lasting = true;
        for_each_expr(first.condition, [&](const Expr& expr) {
            const auto* variable = std::get_if<Variable>(&expr->kind);
            if (variable != nullptr && mutable_.count(variable->name) != 0) is_lasting = false;
            if (std::holds_alternative<Element>(expr->kind) ||
                std::holds_alternative<CallHelper>(expr->kind) ||
                std::holds_alternative<CallLambda>(expr->kind) || std::holds_alternative<Shuffle>(expr->kind))
                is_lasting = false;
        });
        const bool leaves = std::ranges::any_of(
            first.then, [](const Statement& each) { return std::holds_alternative<Return>(each.kind); });
        // Names of the one must not meet those of the other.
        const bool is_plain = !declares(first.then) && !declares(first.otherwise) && !declares(second.then) &&
                              !declares(second.otherwise);
        return is_lasting && !leaves && is_plain;
    }

    void join(If& first, If second) {
        const auto put_behind = [&](Block& before, Block& after) {
            std::ranges::move(after, std::back_inserter(before));
            before = block(before);  // what now stands side by side may be asked twice, too
        };
        put_behind(first.then, second.then);
        put_behind(first.otherwise, second.otherwise);
    }

    std::set<std::string> mutable_;
};

}  // namespace

void tidy(KernelFunction& function) {
    function.body = Tidier(function).block(function.body);
}

}  // namespace halo::kernel
