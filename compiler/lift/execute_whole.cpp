// Whole numbers where C and arithmetic differ: division, remainders, unsigned numbers below zero.
#include <algorithm>

#include "compiler/lift/executor.h"

namespace halo::lift {

using c::Number;

// Whether an index minus something is unsigned: below zero it is a large number.
bool Executor::may_wrap(const Term& term) const {
    const bool is_unsigned = term.type == Number::u8 || term.type == Number::u16 ||
                             term.type == Number::u32 || term.type == Number::u64;
    if (!is_unsigned || term.kind != Term::Kind::integer) return false;
    bool has_index = false, has_negative = false;
    for (const auto& [monomial, factor] : term.poly.terms()) {
        has_negative = has_negative || factor < 0;
        for (const int each : monomial)
            has_index =
                has_index || model_.symbols[static_cast<std::size_t>(each)].kind != Symbol::Kind::size;
    }
    return has_index && has_negative;
}

// Whether a sum of loop indices is never negative, by where the loops begin.
bool Executor::is_natural(const Polynomial& poly) const {
    std::int64_t least = 0;
    for (const auto& [monomial, factor] : poly.terms()) {
        if (monomial.empty()) {
            least += factor;
            continue;
        }
        const auto loop = std::find_if(model_.loops.begin(), model_.loops.end(), [&](const Loop& each) {
            return monomial == Polynomial::Monomial{each.symbol};
        });
        if (factor < 0 || loop == model_.loops.end() || !loop->lower.constant()) return false;
        least += factor * *loop->lower.constant();
    }
    return least >= 0;
}

// Of C, which rounds towards zero: where that is no other result than rounding down.
Value Executor::whole_division(const std::string& op, int left, int right, Number result, SourceRange where) {
    const Term a = model_.term(left), b = model_.term(right);
    std::int64_t by = b.kind == Term::Kind::integer ? b.poly.constant().value_or(0) : 0;
    if (op == "&") {
        if (by != 1) return Value::none("arithmetic on bits is not lifted");
        by = 2;
    }
    if (op == "%" && by == 0)
        return Value::none(
            "which cell this is depends on more than the loops: `%` goes around an edge, where a spec has "
            "`boundary periodic`");
    if (a.kind != Term::Kind::integer || by <= 0)
        return Value::none("whole numbers are divided here, which rounds towards zero in C");
    if (const auto fixed = a.poly.constant()) {
        const std::int64_t value = op == "/" ? *fixed / by : op == "%" ? *fixed % by : *fixed & 1;
        return Value::of(whole(value, result, where));
    }
    if (op == "/") {
        if (const auto exact = a.poly.divided_by(Polynomial(by)))
            return Value::of(whole(*exact, result, where));
        return Value::none("whole numbers are divided here, which rounds towards zero in C");
    }
    if (!is_natural(a.poly))
        return Value::none("the remainder of what may be negative has the sign of it in C");
    Term made;
    made.kind = Term::Kind::binary;
    made.type = result;
    made.text = "mod";
    made.operands = {left, whole(by, result, where)};
    made.where = where;
    return Value::of(add(made));
}

}  // namespace halo::lift
