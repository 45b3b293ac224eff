// Variables that have a value in one branch of a condition alone, as `if (valid) next = u[at];`. Where the
// condition does not hold, garbage is in them; what is stored must not be made of it.
#include <algorithm>

#include "compiler/lift/executor.h"

namespace halo::lift {

namespace {
constexpr char kAlone[] = "this has a value in one branch of a condition alone";
}  // namespace

// After a branch: of a variable that only the side on which the condition holds, or does not, gives a value.
Value Executor::value_of_one(int id, int condition, bool holds, const Value& held) {
    const bool is_garbage =
        held.kind == Value::Kind::term && !variable(id).is_static && c::is_real(model_.term(held.term).type);
    if (!is_garbage) return Value::none(kAlone);
    const SourceRange where = model_.term(held.term).where;
    const Value other = Value::of(garbage(model_.term(held.term).type, where));
    return merged(condition, holds ? held : other, holds ? other : held, where);
}

int Executor::garbage(c::Number type, SourceRange where) {
    Term made;
    made.kind = Term::Kind::garbage;
    made.type = type;
    made.where = where;
    return add(made);
}

// Of a choice by the same condition as one within it: that is known there.
void Executor::skip_choices(Term& select) const {
    for (const std::size_t side : {1U, 2U}) {
        const Term& inner = model_.term(select.operands[side]);
        if (inner.kind == Term::Kind::select && has_garbage(select.operands[side]) &&
            is_same(inner.operands[0], select.operands[0]))
            select.operands[side] = inner.operands[side];
    }
}

bool Executor::has_garbage(int id) const {
    const Term& each = model_.term(id);
    return each.kind == Term::Kind::garbage ||
           std::ranges::any_of(each.operands, [this](int operand) { return has_garbage(operand); });
}

// Whether a condition is known by what is around, or by those that were asked before.
std::optional<bool> Executor::is_asked(int condition) {
    if (const auto holds = truth_here(condition)) return holds;
    const auto is_guard = [&](int wanted) {
        return std::ranges::any_of(state_.guards, [&](int guard) { return is_same(guard, wanted); });
    };
    if (is_guard(condition)) return true;
    return is_guard(negation(condition, model_.term(condition).where)) ? std::optional(false) : std::nullopt;
}

// The value without garbage, by what is known where it is stored. Throws Refusal.
int Executor::without_garbage(int id, SourceRange where) {
    if (!has_garbage(id)) return id;
    Term made = model_.term(id);
    if (made.kind == Term::Kind::garbage)
        throw Refusal(where, kAlone, {"where it is used, the same condition has to be asked"});
    if (made.kind != Term::Kind::select) {
        for (int& operand : made.operands)
            operand = without_garbage(operand, where);
        return add(std::move(made));
    }
    made.operands[0] = without_garbage(made.operands[0], where);
    if (const auto holds = is_asked(made.operands[0]))
        return without_garbage(made.operands[*holds ? 1 : 2], where);
    const std::vector<int> guards = state_.guards;
    const std::map<int, Bounds> bounds = state_.bounds;
    for (const bool holds : {true, false}) {
        add_guard(made.operands[0], holds, where);
        int& side = made.operands[holds ? 1 : 2];
        side = without_garbage(side, where);
        state_.guards = guards;
        state_.bounds = bounds;
    }
    return add(std::move(made));
}

}  // namespace halo::lift
