#include "compiler/lift/whole_numbers.h"

#include <algorithm>
#include <cmath>

namespace halo::lift {

using c::Number;

bool is_whole_number(const Model& model, int id) {
    const Term& each = model.term(id);
    if (each.kind == Term::Kind::number) return each.number == std::floor(each.number);
    return each.kind != Term::Kind::scalar &&
           (c::is_integer(each.type) ||
            std::all_of(each.operands.begin(), each.operands.end(),
                        [&](int operand) { return is_whole_number(model, operand); }));
}

double largest_whole(const Model& model, const Term& each) {
    const auto of = [&](std::size_t i) { return largest_whole(model, model.term(each.operands[i])); };
    switch (each.kind) {
        case Term::Kind::number:
            return std::abs(each.number);
        case Term::Kind::integer:
            return each.poly.constant() ? std::abs(static_cast<double>(*each.poly.constant())) : 0x1p64;
        case Term::Kind::read:
            switch (model.object(model.read(each.index).object).number) {
                case Number::boolean:
                    return 1;
                case Number::u8:
                case Number::i8:
                    return 255;
                case Number::u16:
                case Number::i16:
                    return 65535;
                default:
                    return 0x1p64;
            }
        case Term::Kind::unary:
        case Term::Kind::convert:
            return of(0);
        case Term::Kind::select:
            return std::max(of(1), of(2));
        case Term::Kind::binary:
            if (each.type == Number::boolean) return 1;
            return each.text == "*" ? of(0) * of(1) : of(0) + of(1);
        default:
            return 0x1p64;
    }
}

namespace {

const Term& behind_conversions(const Model& model, int id) {
    const Term* each = &model.term(id);
    while (each->kind == Term::Kind::convert)
        each = &model.term(each->operands[0]);
    return *each;
}
bool is_above_zero(const Term& each) {
    if (each.kind == Term::Kind::integer) return each.poly.constant().value_or(0) > 0;
    return each.kind == Term::Kind::number && each.number > 0;
}
bool is_never_below_zero(const Model& model, const Term& each) {
    if (each.kind == Term::Kind::number) return each.number >= 0;
    if (each.kind == Term::Kind::integer) {
        const auto counts_from_zero = [&](int symbol) {
            return std::any_of(model.loops.begin(), model.loops.end(), [&](const Loop& loop) {
                return loop.symbol == symbol && loop.lower.constant().value_or(-1) >= 0;
            });
        };
        return std::all_of(each.poly.terms().begin(), each.poly.terms().end(), [&](const auto& one) {
            const auto& [monomial, factor] = one;
            return factor > 0 && std::all_of(monomial.begin(), monomial.end(), counts_from_zero);
        });
    }
    if (each.kind != Term::Kind::read) return false;
    const Number number = model.object(model.read(each.index).object).number;
    return number == Number::boolean || number == Number::u8 || number == Number::u16;
}

}  // namespace

// A sum or difference of whole numbers is +0 where they are equal.
bool may_make_zero_below_zero(const Model& model, const Term& each) {
    if (each.kind == Term::Kind::unary) return each.text == "-";
    if (each.kind != Term::Kind::binary || each.text != "*") return false;
    const Term& a = behind_conversions(model, each.operands[0]);
    const Term& b = behind_conversions(model, each.operands[1]);
    if (is_above_zero(a) || is_above_zero(b)) return false;
    return !is_never_below_zero(model, a) || !is_never_below_zero(model, b);
}

}  // namespace halo::lift
