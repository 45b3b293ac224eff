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

// Counts the barriers, which all threads reach, and the beginning and the end of each loop that has some.
// around: what they are in that some might not reach, or more often.
int Executor::barriers_in(int id, const std::string& around, bool in_loop) const {
    if (id < 0 || !waits(id)) return 0;
    const c::Statement& each = statement(id);
    const bool is_barrier = each.kind == StatementKind::expression &&
                            expr(each.expr).kind == ExprKind::call && expr(each.expr).text == kBarrier;
    if (is_barrier && around.empty()) return 1;
    if (is_barrier || (each.kind == StatementKind::expression || each.kind == StatementKind::declare))
        throw Refusal(each.where,
                      "the threads of a block wait for each other here, " +
                          (around.empty() ? "within another function" : around),
                      {"kernels are lifted in which barriers are statements of the kernel itself, or of a "
                       "loop of it, which all threads reach"});
    const bool is_march = each.kind == StatementKind::for_loop && around.empty() && !in_loop;
    const bool is_passed = each.kind == StatementKind::block || is_march;
    const std::string inner = is_passed      ? around
                              : each.is_loop ? in_loop ? "in each iteration of a loop within another one"
                                                       : "in each iteration of a loop that is no `for`"
                                             : "in a branch of a condition";
    int count = is_march ? 2 : 0;
    for (const int part : each.statements)
        count += barriers_in(part, inner, in_loop || is_march);
    return count;
}

// Executes a loop in whose iterations the threads wait for each other, as where they go through an array
// plane by plane. What is in shared memory when an iteration begins is not known: all that an iteration
// reads must have been written in it. Where the loop begins and ends each thread stops as at a barrier, so
// that what is written there is kept apart; none is there, which check_loop_races() knows.
void Executor::run_waiting_loop(const c::Statement& loop, const Header& header) {
    BlockOfThreads& block = *block_;
    wait();
    const int first = block.passed;
    block.visible = first;
    if (!march(loop, header, State(state_)))
        throw Refusal(
            header.where,
            "the threads of a block wait for each other in each iteration of this loop, and what it "
            "leaves in variables for the next one is not understood",
            {"what is understood: cells of an array that are read ahead, indices that move on by a "
             "plane, and shared memory that each iteration fills anew"});
    block.loops.emplace(first, block.passed);
    wait();
    block.visible = block.passed;
}

}  // namespace halo::lift
