// Whole numbers where C and arithmetic differ: division, remainders, unsigned numbers below zero.
#include <algorithm>
#include <limits>

#include "compiler/lift/executor.h"
#include "compiler/lift/mutation.h"

namespace halo::lift {

using c::Number;

namespace {

constexpr double kMost = 0x1p31 - 1;  // threads, and cells along an axis

bool is_unsigned(Number type) {
    return type == Number::boolean || type == Number::u8 || type == Number::u16 || type == Number::u32 ||
           type == Number::u64;
}

int bits_of(Number type) {
    switch (type) {
        case Number::boolean:
            return 1;
        case Number::i8:
        case Number::u8:
            return 8;
        case Number::i16:
        case Number::u16:
            return 16;
        case Number::i32:
        case Number::u32:
            return 32;
        default:
            return 64;
    }
}

// The limits of the type; of 64-bit types, those of a spec's i64.
std::int64_t least_of(Number type) {
    if (is_unsigned(type)) return 0;
    return bits_of(type) == 64 ? std::numeric_limits<std::int64_t>::min()
                               : -(std::int64_t{1} << (bits_of(type) - 1));
}
std::int64_t most_of(Number type) {
    if (bits_of(type) == 64) return std::numeric_limits<std::int64_t>::max();
    return (std::int64_t{1} << (bits_of(type) - (is_unsigned(type) ? 0 : 1))) - 1;
}

// The number that the type's bits hold.
std::int64_t wrapped(std::int64_t value, Number type) {
    const int bits = bits_of(type);
    if (bits == 64) return value;
    const std::int64_t kept = value & ((std::int64_t{1} << bits) - 1);
    return kept > most_of(type) ? kept - (std::int64_t{1} << bits) : kept;
}

}  // namespace

Executor::Span Executor::span_of(Number type) {
    return {static_cast<double>(least_of(type)), static_cast<double>(most_of(type))};
}

Executor::Span Executor::span_of(int id, int depth) const {
    const Symbol& of = model_.symbols[static_cast<std::size_t>(id)];
    if (of.scalar >= 0) return span_of(model_.scalars[static_cast<std::size_t>(of.scalar)].number);
    const auto loop = std::find_if(model_.loops.begin(), model_.loops.end(),
                                   [&](const Loop& each) { return each.symbol == id; });
    if (loop == model_.loops.end()) return {0, kMost};
    return {span(loop->lower, depth + 1).low, kMost};
}

// The interval that the polynomial lies in, whatever its symbols are.
Executor::Span Executor::span(const Polynomial& poly, int depth) const {
    Span sum;
    if (depth > 8) return {-0x1p64, 0x1p64};
    for (const auto& [monomial, factor] : poly.terms()) {
        Span product{static_cast<double>(factor), static_cast<double>(factor)};
        for (const int each : monomial) {
            const Span by = span_of(each, depth);
            const double ends[4] = {product.low * by.low, product.low * by.high, product.high * by.low,
                                    product.high * by.high};
            product = {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
        }
        sum = {sum.low + product.low, sum.high + product.high};
    }
    return sum;
}

// Adds the term of an integer computation. Signed numbers do not overflow in a program that has a meaning;
// unsigned ones wrap around, which `needs` records.
int Executor::computed(const Polynomial& poly, Number type, const std::vector<int>& from, SourceRange where) {
    std::vector<Polynomial> needs;
    for (const int each : from)
        needs.insert(needs.end(), model_.term(each).needs.begin(), model_.term(each).needs.end());
    int bits = 64;  // sums and products have the lowest bits of what they are made of
    for (const int each : from)
        bits = std::min(bits, model_.term(each).bits);
    int id = whole(poly, type, where);
    if (is_unsigned(type)) id = truncated(id, type, where);
    Term& made = model_.terms[static_cast<std::size_t>(id)];
    made.needs.insert(made.needs.end(), needs.begin(), needs.end());
    made.bits = std::min(made.bits, bits);
    return id;
}

// Converts a whole number to a type that may hold fewer bits.
int Executor::truncated(int id, Number to, SourceRange where) {
    const Term from = model_.term(id);
    if (const auto fixed = from.poly.constant(); fixed && from.needs.empty()) {
        const int made = whole(wrapped(*fixed, to), to, where);
        if (to == Number::u64 && *fixed < 0) model_.terms[static_cast<std::size_t>(made)].needs = {from.poly};
        return made;
    }
    const int made = whole(from.poly, to, where);
    Term& held = model_.terms[static_cast<std::size_t>(made)];
    if (bits_of(to) > from.bits) held.needs = from.needs;
    held.bits = std::min(from.bits, bits_of(to));
    const Polynomial poly = held.poly;
    const Span all = span(poly);
    const bool is_thread = std::any_of(rows_.begin(), rows_.end(), [&](const auto& each) {
        return thread_index(each.first) == poly;  // numbered through: a cell's
    });
    if (is_thread) return made;
    if (all.low < static_cast<double>(least_of(to))) held.needs.push_back(poly - Polynomial(least_of(to)));
    // Assumes that indices of cells fit into their types.
    const bool counts_cells = std::any_of(poly.terms().begin(), poly.terms().end(), [&](const auto& term) {
        return std::any_of(term.first.begin(), term.first.end(), [&](int symbol) {
            return model_.symbols[static_cast<std::size_t>(symbol)].kind != Symbol::Kind::size;
        });
    });
    if (all.high > static_cast<double>(most_of(to)) && !counts_cells)
        held.needs.push_back(Polynomial(most_of(to)) - poly);
    return made;
}

// The polynomial where it is least within these loops.
Polynomial Executor::least_within(Polynomial poly, const std::vector<int>& loops) const {
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
        const Loop& of = model_.loop(*loop);
        const auto factor = poly.coefficient(of.symbol);
        const auto sign = factor ? factor->constant() : std::nullopt;
        if (!sign || *sign == 0) continue;
        if (*sign < 0 && of.upper.is_zero()) continue;  // over threads: how many is not known
        Polynomial least = of.lower;
        if (const auto narrowed = state_.bounds.find(*loop); narrowed != state_.bounds.end()) {
            for (const Polynomial& each : narrowed->second.lower) {  // by conditions on the index
                const auto higher = (each - least).constant();
                if (higher && *higher > 0) least = each;
            }
        }
        poly = poly.without(of.symbol) + *factor * (*sign > 0 ? least : of.upper - 1);
    }
    return poly;
}

// Whether the polynomial is never below zero within these loops, each of which has an iteration there.
bool Executor::is_never_negative(const Polynomial& of_cells, const std::vector<int>& loops) const {
    const Polynomial poly = least_within(of_cells, loops);
    if (span(poly).low >= 0) return true;
    return std::any_of(loops.begin(), loops.end(), [&](int loop) {
        const Loop& of = model_.loop(loop);
        if (of.parallel && of.upper.is_zero()) return false;  // over threads
        return span(poly - (of.upper - of.lower - 1)).low >= 0;
    });
}

// Refuses a number that may have wrapped around, or been cut off to fit, where its value matters. As a bound
// or a subscript it may not: there is no array of that size.
void Executor::require_exact(int id, const std::vector<int>& loops) const {
    const Term& from = model_.term(id);
    for (const Polynomial& each : from.needs) {
        if (has(Mutation::drop_wrap) || is_never_negative(each, loops)) continue;
        const bool is_below = least_of(from.type) == 0 && each == from.poly;
        throw Refusal(from.where,
                      is_below
                          ? "an unsigned number is used here that may go below zero and become large"
                          : "a whole number is used here that may be too large for its type, or is cut off",
                      {"with signed numbers of one type this can be lifted"});
    }
    for (const int operand : from.operands)
        require_exact(operand, loops);
}

// Whether a sum of loop indices is never negative, by the lower bounds of the loops.
bool Executor::is_never_negative(const Polynomial& poly) const {
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

// Translates C's division, which rounds towards zero, where rounding down gives the same result.
Value Executor::whole_division(const std::string& op, int left, int right, Number result, SourceRange where) {
    const Term a = model_.term(left), b = model_.term(right);
    std::int64_t by = b.kind == Term::Kind::integer ? b.poly.constant().value_or(0) : 0;
    if (op == "&") {
        if (by != 1) return Value::none("arithmetic on bits is not lifted");
        by = 2;
    }
    if (const auto found = op == "&" ? std::nullopt : flat_division(op, left, right, result, where))
        return Value::of(*found);
    if (op == "%") {
        if (const auto wrapped = wrapped_index(left, right, result, where)) return Value::of(*wrapped);
    }
    if (op == "%" && by == 0)
        return Value::none(
            "which cell this is depends on more than the loops: `%` goes around an edge, where a spec has "
            "`boundary periodic`");
    if (a.kind != Term::Kind::integer || by <= 0)
        return Value::none("whole numbers are divided here, which rounds towards zero in C");
    if (const auto fixed = a.poly.constant(); fixed && a.needs.empty()) {
        const std::int64_t value = op == "/" ? *fixed / by : op == "%" ? *fixed % by : *fixed & 1;
        return Value::of(whole(value, result, where));
    }
    if (op == "/") {
        if (const auto exact = a.poly.divided_by(Polynomial(by))) {
            const int made = computed(*exact, result, {left}, where);
            model_.terms[static_cast<std::size_t>(made)].bits = 0;
            return Value::of(made);
        }
        return Value::none("whole numbers are divided here, which rounds towards zero in C");
    }
    if (!is_never_negative(a.poly))
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
