// What a function checks: where it does not hold the program ends. It holds by the bounds of the loops
// around, or it is an assumption on sizes that the spec states.
#include <algorithm>

#include "compiler/lift/executor.h"
#include "compiler/lift/mutation.h"

namespace halo::lift {

// Whether the condition, or its negation, holds in all cells or where the sizes are as is then assumed.
bool Executor::is_checked(int id, bool holds) {
    if (has(Mutation::drop_check)) return true;
    const Term check = model_.term(id);
    if (const auto known = known_truth(id)) return *known == holds;
    if (check.kind == Term::Kind::unary && check.text == "not") return is_checked(check.operands[0], !holds);
    if (check.kind != Term::Kind::binary || check.operands.size() != 2) return false;
    const int left = check.operands[0], right = check.operands[1];
    if (check.text == (holds ? "and" : "or")) return is_checked(left, holds) && is_checked(right, holds);
    const Term a = model_.term(left), b = model_.term(right);
    if (a.kind != Term::Kind::integer || b.kind != Term::Kind::integer) return false;
    const Polynomial more = b.poly - a.poly;
    const std::string& op = check.text;
    if (op == (holds ? "<" : ">=")) return is_checked(more - 1);
    if (op == (holds ? "<=" : ">")) return is_checked(more);
    if (op == (holds ? ">" : "<=")) return is_checked(more * Polynomial(-1) - 1);
    if (op == (holds ? ">=" : "<")) return is_checked(more * Polynomial(-1));
    if (op == (holds ? "==" : "!=")) return is_checked(more) && is_checked(more * Polynomial(-1));
    return false;
}

// Whether the polynomial is never below zero, or not where sizes are as is then assumed.
bool Executor::is_checked(const Polynomial& poly) {
    const std::vector<int> loops = loops_around();
    if (is_never_negative(poly, loops)) return true;
    const Polynomial least = least_within(poly, loops) + 1;
    for (std::size_t s = 0; s < model_.symbols.size(); ++s) {
        if (model_.symbols[s].kind != Symbol::Kind::size && least.has(static_cast<int>(s))) return false;
    }
    if (block_ || least.constant()) return false;
    if (std::ranges::find(model_.checks, least) == model_.checks.end()) model_.checks.push_back(least);
    return true;
}

}  // namespace halo::lift
