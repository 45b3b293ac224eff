#include "compiler/lift/spec_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/lift/mutation.h"

namespace halo::lift {

using c::Number;

// What is called `id` now is called so after the step.
int TermWriter::holder(int id) const {
    for (std::size_t i = 0; i < form_.fields.size(); ++i) {
        if (form_.fields[i].after_step == id) return static_cast<int>(i);
    }
    return id;
}
Text TermWriter::term(int id, bool spelled_out) {
    if (!spelled_out) {
        if (const auto found = lets_.find(id); found != lets_.end()) return {found->second, kLeaf};
    }
    const Term& each = model_.term(id);
    switch (each.kind) {
        case Term::Kind::number:
            return number(each, false);
        case Term::Kind::integer:
            return polynomial(each.poly, each.where);
        case Term::Kind::scalar:
            return {param(each.index), kLeaf};
        case Term::Kind::read:
            return {access(each), kLeaf};
        case Term::Kind::convert:
            return converted(each);
        case Term::Kind::unary: {
            const int binding = each.text == "not" ? kNot : kSign;
            const std::string operand = term(each.operands[0]).in(each.text == "not" ? kCompare : kLeaf);
            return {each.text == "not" ? "not " + operand : "-" + operand, binding};
        }
        case Term::Kind::binary:
            return binary(each);
        case Term::Kind::select: {
            const Text condition = term(each.operands[0]);
            const Text then = operand(each, 1), otherwise = operand(each, 2);
            return {"if " + condition.in(kOr) + " then " + then.in(kOr) + " else " + otherwise.in(kIf), kIf};
        }
        case Term::Kind::call:
            return call(each);
        case Term::Kind::running:  // refused by find_precision()
        case Term::Kind::reduced:
        case Term::Kind::carried:
        case Term::Kind::garbage:
        case Term::Kind::unwritten:
            break;
    }
    return {};
}

// A number takes the type of what it meets: a float's decimals mean the float there, and not among
// doubles.
Text TermWriter::operand(const Term& of, std::size_t which) {
    const int id = of.operands[which];
    int leaf = id;
    while (model_.term(leaf).kind == Term::Kind::convert)
        leaf = model_.term(leaf).operands[0];
    if (model_.term(leaf).kind != Term::Kind::number) return term(id);
    bool meets_float = false;
    for (const int other : of.operands)
        meets_float = meets_float || precision_.compute[static_cast<std::size_t>(other)] == Compute::f32;
    return number(model_.term(leaf), meets_float);
}
Text TermWriter::number(const Term& each, bool meets_float) {
    if (!std::isfinite(each.number))
        throw Refusal(each.where, "this number is not finite, and a spec cannot write it");
    if (each.number == 0 && std::signbit(each.number))
        throw Refusal(each.where, "this number is a zero below zero, and a spec's zero has no sign");
    return {decimal(each.number, meets_float), std::signbit(each.number) ? kSign : kLeaf};
}

// What is made of whole numbers alone a spec computes in reals where it meets them. Whole numbers have no
// zero below zero, and 0 + x has none.
Text TermWriter::converted(const Term& each) {
    const int id = each.operands[0];
    const Text from = term(id);
    const bool in_reals = c::is_real(each.type) && c::is_integer(model_.term(id).type) &&
                          precision_.compute[static_cast<std::size_t>(id)] == Compute::weak;
    if (!in_reals || !may_be_below_zero(id)) return from;
    if (from.words[0] == '-' && from.binding >= kProduct) return {"0 - " + from.words.substr(1), kSum};
    return {"0 + " + from.in(kSum), kSum};
}
// A zero, in reals: of a product with one factor below zero, or of a sum of such.
bool TermWriter::may_be_below_zero(int id) const {
    const Term& each = model_.term(id);
    const auto of = [&](std::size_t i) { return may_be_below_zero(each.operands[i]); };
    switch (each.kind) {
        case Term::Kind::integer: {
            const auto& terms = each.poly.terms();
            return !terms.empty() && std::all_of(terms.begin(), terms.end(), [](const auto& one) {
                const auto& [monomial, factor] = one;
                return monomial.size() > 1 || (monomial.size() == 1 && factor < 0);
            });
        }
        case Term::Kind::unary:
            return each.text == "-";
        case Term::Kind::select:
            return of(1) || of(2);
        case Term::Kind::binary:
            return each.text == "*" || (each.text == "+" && of(0) && of(1)) || (each.text == "-" && of(0));
        default:
            return false;
    }
}

Text TermWriter::binary(const Term& each) {
    if (each.text == "mod")
        return {"mod(" + term(each.operands[0]).words + ", " + term(each.operands[1]).words + ")", kLeaf};
    const bool drops = each.text == "+" && has(Mutation::drop_zero);
    if (drops && is_value(each.operands[0], 0)) return operand(each, 1);
    if (each.text == "*" && is_value(each.operands[0], 1)) return operand(each, 1);
    const Text left = operand(each, 0), right = operand(each, 1);
    if (each.text == "+" && right.binding == kProduct && right.words[0] == '-')
        return {left.in(kSum) + " - " + right.words.substr(1), kSum};  // a + -2 * b
    if (each.text == "and") return {left.in(kAnd) + " and " + right.in(kNot), kAnd};
    if (each.text == "or") return {left.in(kOr) + " or " + right.in(kAnd), kOr};
    const bool is_sum = each.text == "+" || each.text == "-";
    const bool is_product = each.text == "*" || each.text == "/";
    const int binding = is_sum ? kSum : is_product ? kProduct : kCompare;
    const int at_left = binding == kCompare ? kSum : binding;
    // -1 * a stays a product of a number; a - -1 does not stand so.
    const int at_right = binding == kCompare                             ? kSum
                         : kLeaf > binding + 1 && right.binding == kSign ? kLeaf
                                                                         : binding + 1;
    return {left.in(at_left) + " " + each.text + " " + right.in(at_right), binding};
}

// A language that computes with exact numbers drops these, too.
bool TermWriter::is_value(int id, int value) const {
    const Term& each = model_.term(id);
    if (each.kind == Term::Kind::convert) return is_value(each.operands[0], value);
    if (each.kind == Term::Kind::integer) return each.poly == Polynomial(value);
    return each.kind == Term::Kind::number && each.number == value && !std::signbit(each.number);
}

Text TermWriter::call(const Term& each) {
    if (each.text == "min" || each.text == "max")
        has_extremum_ = true;
    else if (each.text != "sqrt" && each.text != "abs")
        has_function_ = true;
    std::string text = each.text + "(";
    for (std::size_t i = 0; i < each.operands.size(); ++i)
        text += (i ? ", " : "") + operand(each, i).words;
    return {text + ")", kLeaf};
}

std::string TermWriter::param(int scalar) {
    const auto found = spec_.params.find(scalar);
    if (found != spec_.params.end()) return found->second;
    return spec_.params[scalar] = names_.take(model_.scalars[static_cast<std::size_t>(scalar)].name);
}

// i + 2*n: the loop's index is that of the cell, less what is added to it where the cell is stored.
Text TermWriter::polynomial(const Polynomial& poly, SourceRange where) {
    Polynomial in_cells = poly;
    std::map<int, std::string> words;
    for (std::size_t a = 0; a < current_->axes.size(); ++a) {
        const AxisIndex& axis = current_->axes[a];
        if (axis.loop < 0) continue;
        const int symbol = model_.loop(axis.loop).symbol;
        const auto factor = in_cells.coefficient(symbol);
        if (!factor) throw Refusal(where, "a power of a loop's index is computed here");
        in_cells = in_cells - *factor * axis.offset;
        words[symbol] = "idx(" + form_.axes[a] + ")";
    }
    if (model_.time_loop >= 0) {
        const Loop& time = model_.loop(model_.time_loop);
        const auto factor = in_cells.coefficient(time.symbol);
        if (!factor) throw Refusal(where, "a power of the step is computed here");
        in_cells = in_cells + *factor * time.lower;
        words[time.symbol] = "step";
    }
    for (std::size_t s = 0; s < model_.symbols.size(); ++s) {
        const int symbol = static_cast<int>(s);
        if (words.count(symbol) || !in_cells.has(symbol)) continue;
        if (model_.symbols[s].scalar < 0)
            throw Refusal(where, "`" + model_.symbols[s].name + "` is no number that a spec knows");
        words[symbol] = param(model_.symbols[s].scalar);
    }
    std::string text = in_cells.text([&](int symbol) { return words.at(symbol); });
    std::string spaced;
    for (const char each_char : text)
        spaced += each_char == '*' ? std::string(" * ") : std::string(1, each_char);
    const bool is_sum = in_cells.terms().size() > 1;
    const bool is_product = spaced.find('*') != std::string::npos;
    return {spaced, is_sum ? kSum : is_product ? kProduct : spaced[0] == '-' ? kSign : kLeaf};
}

std::string TermWriter::access(const Term& each) {
    const ResolvedRead& read = current_->reads.at(each.index);
    const Field& of = field(read.field);
    const bool is_before = !before_.empty() && read.is_new && read.field == current_->field;
    const bool is_input = of.has_before && !read.is_new;
    const std::string text = is_before  ? before_
                             : is_input ? spec_.before.at(read.field)
                                        : spec_.fields.at(read.is_new ? holder(read.field) : read.field);
    std::string inside = read.is_new && of.is_state && !is_before ? "t+1" : "";
    for (std::size_t a = 0; a < read.offset.size(); ++a) {
        if (read.offset[a] == 0) continue;
        inside += (inside.empty() ? "" : ", ") + form_.axes[a] + fmt::format("{:+d}", read.offset[a]);
    }
    return inside.empty() ? text : text + "[" + inside + "]";
}

}  // namespace halo::lift
