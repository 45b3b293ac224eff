// Conditions around what is executed: those on a loop's index narrow the loop, others are kept.
#include <algorithm>
#include <utility>

#include "compiler/lift/executor.h"
#include "compiler/lift/mutation.h"

namespace halo::lift {

void Executor::add_guard(int id, bool holds, SourceRange where) {
    const Term guard = model_.term(id);
    if (guard.kind == Term::Kind::unary && guard.text == "not")
        return add_guard(guard.operands[0], !holds, where);
    const bool splits = guard.kind == Term::Kind::binary && guard.text == (holds ? "and" : "or");
    if (splits) {
        add_guard(guard.operands[0], holds, where);
        add_guard(guard.operands[1], holds, where);
        return;
    }
    if (known_truth(id) || has(Mutation::drop_condition)) return;
    if (!narrow(guard, holds)) state_.guards.push_back(holds ? id : negation(id, where));
    narrow_by_alternatives();
}

// Where one of two conditions is known not to hold, the other one does: not (i == 0 and j == 0), where i is
// 0.
void Executor::narrow_by_alternatives() {
    for (const int id : std::vector<int>(state_.guards)) {
        const Term guard = model_.term(id);
        const bool is_negated = guard.kind == Term::Kind::unary && guard.text == "not";
        const Term either = is_negated ? model_.term(guard.operands[0]) : guard;
        if (either.kind != Term::Kind::binary || either.text != (is_negated ? "and" : "or")) continue;
        for (const auto& [one, other] :
             {std::pair(either.operands[0], either.operands[1]), {either.operands[1], either.operands[0]}}) {
            if (decided(model_.term(one)) == is_negated) narrow(model_.term(other), !is_negated);
        }
    }
}

// Whether a comparison of a loop's index holds for all that it may be here, or for none.
std::optional<bool> Executor::decided(const Term& comparison) {
    const std::optional<Side> found = side(comparison);
    if (!found) return std::nullopt;
    const Bounds all = known_bounds(found->loop);
    const auto is_past = [&](const Polynomial& lower) {
        return (lower - found->bound).constant().value_or(-1) >= 0;
    };
    const auto is_before = [&](const Polynomial& upper) {
        return (found->bound - upper).constant().value_or(-1) >= 0;
    };
    if (std::any_of(all.lower.begin(), all.lower.end(), is_past)) return !found->is_below;
    if (std::any_of(all.upper.begin(), all.upper.end(), is_before)) return found->is_below;
    return std::nullopt;
}

// Narrows the loop over i where a condition such as i + c < n holds; false where it is none.
bool Executor::narrow(const Term& comparison, bool holds) {
    if (comparison.kind != Term::Kind::binary || comparison.operands.size() != 2) return false;
    const bool is_equal = comparison.text == (holds ? "==" : "!=");
    const std::optional<Side> found = is_equal ? std::nullopt : side(comparison);
    if (found) {
        if (has(Mutation::drop_index_condition)) return true;
        Bounds& bounds = bounds_of(found->loop);
        const bool is_below = found->is_below == holds;
        (is_below ? bounds.upper : bounds.lower).push_back(found->bound);
        return true;
    }
    if (!is_equal) return false;
    Term below = comparison;
    below.text = "<";
    const std::optional<Side> at = side(below);  // i < at, or i >= at + 1
    if (!at) return false;
    if (has(Mutation::drop_index_condition)) return true;
    const Polynomial cell = at->is_below ? at->bound : at->bound - 1;
    Bounds& bounds = bounds_of(at->loop);
    bounds.lower.push_back(cell);
    bounds.upper.push_back(cell + 1);
    return true;
}

}  // namespace halo::lift
