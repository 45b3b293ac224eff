// Where the threads of a block wait for each other.
#include <algorithm>
#include <functional>
#include <set>

#include "compiler/lift/execute_block.h"
#include "compiler/lift/executor.h"

namespace halo::lift {

namespace {

using ExprKind = c::Expr::Kind;
using StatementKind = c::Statement::Kind;

}  // namespace

// Whether there is such an expression in the statement, or in a function that is called there.
bool Executor::has_expr(int id, const std::function<bool(const c::Expr&)>& wanted) const {
    std::set<int> called;
    std::function<bool(int)> in_statement;
    const std::function<bool(int)> in_expr = [&](int at) {
        if (at < 0) return false;
        const c::Expr& each = expr(at);
        if (wanted(each)) return true;
        if (each.is_end) return false;
        const bool is_body = each.function >= 0 && called.insert(each.function).second;
        return (is_body && in_statement(unit_.functions[static_cast<std::size_t>(each.function)].body)) ||
               std::ranges::any_of(each.operands, in_expr);
    };
    in_statement = [&](int at) {
        if (at < 0) return false;
        const c::Statement& each = statement(at);
        const auto in_declared = [&](int named) { return in_expr(variable(named).init); };
        return in_expr(each.expr) || (each.kind == StatementKind::for_loop && in_expr(each.step)) ||
               std::ranges::any_of(each.variables, in_declared) ||
               std::ranges::any_of(each.statements, in_statement);
    };
    return in_statement(id);
}

bool Executor::waits(int id) const {
    return has_expr(id,
                    [](const c::Expr& each) { return each.kind == ExprKind::call && each.text == kBarrier; });
}

// Whether there is a barrier in what follows the statement that runs.
bool Executor::waits_ahead() const {
    return std::ranges::any_of(rest_, [&](const Rest& rest) {
        return std::any_of(rest.first->begin() + static_cast<std::ptrdiff_t>(rest.second), rest.first->end(),
                           [&](int each) { return waits(each); });
    });
}

// Counts the barriers, which all threads reach. around: what they are in that some might not, or more often.
int Executor::barriers_in(int id, const std::string& around) const {
    if (id < 0 || !waits(id)) return 0;
    const c::Statement& each = statement(id);
    const bool is_barrier = each.kind == StatementKind::expression &&
                            expr(each.expr).kind == ExprKind::call && expr(each.expr).text == kBarrier;
    if (is_barrier && around.empty()) return 1;
    if (is_barrier || (each.kind == StatementKind::expression || each.kind == StatementKind::declare))
        throw Refusal(each.where,
                      "the threads of a block wait for each other here, " +
                          (around.empty() ? "within another function" : around),
                      {"kernels are lifted in which barriers are statements of the kernel itself, which all "
                       "threads reach once"});
    const std::string inner = each.kind == StatementKind::block ? around
                              : each.is_loop
                                  ? "in each iteration of a loop: what it puts into shared memory anew, as "
                                    "one plane after the other, is not followed"
                                  : "in a branch of a condition";
    int count = 0;
    for (const int part : each.statements)
        count += barriers_in(part, inner);
    return count;
}

}  // namespace halo::lift
