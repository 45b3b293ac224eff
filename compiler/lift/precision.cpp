#include "compiler/lift/precision.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/lift/whole_numbers.h"

namespace halo::lift {

namespace {

using c::Number;

bool is_float_value(double value) {
    return static_cast<double>(static_cast<float>(value)) == value;
}

// Whether a function of floats gives a float, or rounds as a single operation does.
bool is_exact_call(const std::string& name) {
    for (const char* each : {"sqrt", "abs", "min", "max", "floor", "ceil", "trunc", "round"}) {
        if (name == each) return true;
    }
    return false;
}

class PrecisionFinder {
public:
    PrecisionFinder(Model& model, const Form& form) : model_(model), form_(form) {}

    Precision find() {
        collect();
        for (const int id : used_)
            simplify(id);
        collect();
        for (std::size_t i = 0; i < form_.fields.size(); ++i)
            result_.type[static_cast<int>(i)] = field_type(form_.fields[i]);
        widest_ = widest_of_fields();
        result_.compute.assign(model_.terms.size(), Compute::weak);
        std::set<int> done;
        for (const int id : used_)
            compute(id, done);
        for (const Statement& each : form_.statements)
            check_stored(model_.stores[static_cast<std::size_t>(each.store)]);
        return std::move(result_);
    }

private:
    Term& term(int id) { return model_.terms[static_cast<std::size_t>(id)]; }
    Compute of(int id) const { return result_.compute[static_cast<std::size_t>(id)]; }

    // The compute type of docs/language.md: the widest of the real fields; of integers alone f64, of bytes
    // and conditions alone f32.
    Compute widest_of_fields() const {
        const auto has_any = [&](std::initializer_list<const char*> names) {
            return std::ranges::any_of(result_.type, [&](const auto& each) {
                return std::ranges::any_of(names, [&](const char* name) { return each.second == name; });
            });
        };
        if (has_any({"f64", "f32 as f64"})) return Compute::f64;
        if (has_any({"f32"})) return Compute::f32;
        return has_any({"i32", "i64"}) ? Compute::f64 : Compute::f32;
    }

    void collect() {
        std::set<int> all;
        for (const Statement& each : form_.statements) {
            for (const int id : terms_of(model_, model_.stores[static_cast<std::size_t>(each.store)]))
                all.insert(id);
        }
        used_.assign(all.begin(), all.end());
    }

    // The float behind a conversion to double; else -1.
    int as_float(int id) {
        const Term each = term(id);
        if (each.type == Number::f32) return id;
        if (each.kind == Term::Kind::convert && term(each.operands[0]).type == Number::f32)
            return each.operands[0];
        if (each.kind == Term::Kind::number && is_float_value(each.number)) {
            Term made = each;
            made.type = Number::f32;
            model_.terms.push_back(made);
            return static_cast<int>(model_.terms.size()) - 1;
        }
        return -1;
    }

    // One operation on floats that is done in double and rounded to float has the bits of the float's
    // operation: double has more than twice its digits.
    void simplify(int id) {
        const Term each = term(id);
        if (each.kind != Term::Kind::convert || each.type != Number::f32) return;
        const Term inner = term(each.operands[0]);
        if (inner.type != Number::f64) return;
        const bool is_exact = (inner.kind == Term::Kind::binary && inner.operands.size() == 2) ||
                              (inner.kind == Term::Kind::call && is_exact_call(inner.text)) ||
                              inner.kind == Term::Kind::unary || inner.kind == Term::Kind::select;
        if (!is_exact) {
            const int same = as_float(each.operands[0]);
            if (same >= 0 && same != id && term(same).kind != Term::Kind::convert) copy(id, same);
            return;
        }
        Term made = inner;
        for (std::size_t i = 0; i < made.operands.size(); ++i) {
            if (inner.kind == Term::Kind::select && i == 0) continue;
            const int narrow = as_float(made.operands[i]);
            if (narrow < 0) return;
            made.operands[i] = narrow;
        }
        made.type = Number::f32;
        // Operands come before users: those made here are at the end, and so is a copy.
        term(id) = made;
    }
    void copy(int to, int from) {
        Term made = term(from);
        term(to) = made;
    }

    std::string field_type(const Field& field) {
        switch (model_.object(field.object).number) {
            case Number::f64:
                return "f64";
            case Number::f32:
                return is_wide(field.object) ? "f32 as f64" : "f32";
            case Number::i32:
                return "i32";
            case Number::i64:
                return "i64";
            case Number::u8:
                return "u8";
            case Number::boolean:
                return "bool";
            default:
                throw Refusal(model_.object(field.object).where,
                              "`" + field.name + "` is an array of a type that a spec does not have",
                              {"there are float, double, int, long, unsigned char and bool"});
        }
    }

    // Whether the array has one read at least, and every read of it is converted to double at once.
    bool is_wide(int object) {
        bool has_read = false, is_narrow = false;
        std::set<int> converted;
        for (const int id : used_) {
            const Term& each = term(id);
            if (each.kind == Term::Kind::convert && each.type == Number::f64)
                converted.insert(each.operands[0]);
            else
                for (const int operand : each.operands)
                    is_narrow = is_narrow || is_read_of(operand, object);
        }
        for (const int id : used_) {
            if (!is_read_of(id, object)) continue;
            has_read = true;
            is_narrow = is_narrow || !converted.count(id);
        }
        return has_read && !is_narrow;
    }
    bool is_read_of(int id, int object) {
        const Term& each = term(id);
        return each.kind == Term::Kind::read && same_array(model_.read(each.index).object, object);
    }
    // Rotating arrays have one type.
    bool same_array(int a, int b) const {
        return a == b || (model_.after_step.count(a) && model_.after_step.count(b));
    }

    [[noreturn]] void refuse(const Term& each, Compute here) {
        const bool compares = each.type == Number::boolean && !each.operands.empty();
        const bool in_double = (compares ? model_.term(each.operands[0]).type : each.type) == Number::f64;
        std::vector<std::string> notes;
        if (in_double) {
            notes.push_back(
                "constants with a decimal point and the functions of <math.h> are double: with an f after "
                "them, as in 0.1f and fabsf, all is computed in float; or make the arrays double");
        }
        throw Refusal(each.where,
                      std::string("this is computed in ") + (in_double ? "double" : "float") +
                          ", and a spec would compute it in " + (here == Compute::f32 ? "float" : "double") +
                          ": the last digits would not be the same",
                      notes);
    }

    bool is_long_number(int id) const {
        const Term& each = model_.term(id);
        if (each.kind == Term::Kind::read)
            return model_.object(model_.read(each.index).object).number == Number::i64;
        return std::any_of(each.operands.begin(), each.operands.end(),
                           [this](int operand) { return is_long_number(operand); });
    }

    // The type in which operands are computed that meet.
    Compute join(const std::vector<int>& operands) const {
        Compute all = Compute::weak;
        bool is_counted = false, is_fraction = false;
        for (const int id : operands) {
            const Compute each = of(id);
            is_counted = is_counted || each == Compute::counted;
            is_fraction = is_fraction || (each == Compute::weak && c::is_real(model_.term(id).type));
            if (each == Compute::f64 || (each == Compute::f32 && all != Compute::f64)) all = each;
            if (each == Compute::whole && all == Compute::weak) all = each;
        }
        if (all == Compute::weak && is_counted) return is_fraction ? widest_ : Compute::counted;
        return all;
    }

    void compute(int id, std::set<int>& done) {
        if (!done.insert(id).second) return;
        const Term each = term(id);
        for (const int operand : each.operands)
            compute(operand, done);
        result_.compute.resize(model_.terms.size(), Compute::weak);
        Compute made = found(each);
        // Numbers that are the same in all cells, chosen by what is not: in the widest type of the fields.
        if (varies(each)) varying_.insert(id);
        const bool is_exact = each.type == Number::f32 || widest_ == Compute::f64;
        if (made == Compute::weak && c::is_real(each.type) && varying_.count(id) && is_exact) made = widest_;
        result_.compute[static_cast<std::size_t>(id)] = made;
        if (varying_.count(id) && widest_ == Compute::f32) check_chosen(each);
        check_operands(each, id);
        note_rounding(id);
    }

    // What C rounds to float and a spec does not. Storing it into an array of floats rounds it; where params
    // alone are combined so, they round when they meet a float. All else would see other digits.
    enum class Rounds : unsigned char { no, when_stored, when_met };
    Rounds rounds(int id) const {
        const auto found = rounded_.find(id);
        return found == rounded_.end() ? Rounds::no : found->second;
    }
    void note_rounding(int id) {
        const Term& each = model_.term(id);
        if (each.type != Number::f32) return;
        Rounds made = Rounds::no;
        const Compute here = of(id);
        switch (each.kind) {
            case Term::Kind::convert: {
                const Term& from = model_.term(each.operands[0]);
                if (from.type == Number::f64 && here == Compute::f64) made = Rounds::when_stored;
                const bool is_short = from.type == Number::i8 || from.type == Number::u8 ||
                                      from.type == Number::i16 || from.type == Number::u16;
                const bool is_exact = from.kind == Term::Kind::number || is_short;
                if (here != Compute::f32 && here != Compute::f64 && !is_exact) made = Rounds::when_met;
                break;
            }
            case Term::Kind::select:
                made = std::max(rounds(each.operands[1]), rounds(each.operands[2]));
                break;
            case Term::Kind::unary:
                made = rounds(each.operands[0]);
                break;
            case Term::Kind::binary:
            case Term::Kind::call:
                if (here == Compute::weak) made = Rounds::when_met;
                break;
            default:
                break;
        }
        if (made != Rounds::no) rounded_[id] = made;
    }
    void check_operands(const Term& each, int id) {
        if (each.kind == Term::Kind::convert && each.type == Number::f32) return;
        for (std::size_t i = 0; i < each.operands.size(); ++i) {
            const int operand = each.operands[i];
            const Rounds how = rounds(operand);
            if (how == Rounds::no) continue;
            const bool hands_on = each.type == Number::f32 && (each.kind == Term::Kind::unary ||
                                                               (each.kind == Term::Kind::select && i > 0));
            const bool compares = each.kind == Term::Kind::binary && each.type == Number::boolean;
            const bool meets_float = compares ? join(each.operands) == Compute::f32
                                              : each.type == Number::f32 && of(id) != Compute::f64;
            if (hands_on || (how == Rounds::when_met && meets_float)) continue;
            refuse(model_.term(operand), Compute::f64);
        }
    }
    void check_stored(const Store& from) {
        for (const int guard : from.guards) {
            if (rounds(guard) != Rounds::no) refuse(model_.term(guard), Compute::f64);
        }
        const bool is_float = from.reduction < 0 && model_.object(from.object).number == Number::f32;
        if (rounds(from.value) != Rounds::no && !is_float) refuse(model_.term(from.value), Compute::f64);
    }

    // Doubles that a cell chooses are floats in a spec of floats: compared they must be, and not computed
    // with.
    void check_chosen(const Term& each) {
        const bool meets = each.kind == Term::Kind::binary || each.kind == Term::Kind::call;
        if (!meets || term(each.operands[0]).type != Number::f64 || join(each.operands) != Compute::weak)
            return;
        const auto is_float = [&](int id) {
            const Term& held = model_.term(id);
            return held.kind == Term::Kind::number && is_float_value(held.number);
        };
        for (const int id : each.operands) {
            const Term& held = model_.term(id);
            const bool is_chosen = held.kind == Term::Kind::select;
            const bool is_exact =
                is_chosen ? is_float(held.operands[1]) && is_float(held.operands[2]) : is_float(id);
            if (!is_exact || each.type != Number::boolean) refuse(each, Compute::f32);
        }
    }
    bool varies(const Term& each) const {
        if (each.kind == Term::Kind::read) return true;
        const auto is_index = [&](const Loop& loop) { return !loop.is_time && each.poly.has(loop.symbol); };
        return std::any_of(model_.loops.begin(), model_.loops.end(), is_index) ||
               std::any_of(each.operands.begin(), each.operands.end(),
                           [this](int operand) { return varying_.count(operand) > 0; });
    }

    Compute found(const Term& each) {
        switch (each.kind) {
            case Term::Kind::number:
            case Term::Kind::scalar:
                return Compute::weak;
            case Term::Kind::integer: {
                check_width(each);
                for (const Loop& loop : model_.loops) {
                    if (!loop.is_time && each.poly.has(loop.symbol)) return Compute::counted;
                }
                return Compute::weak;
            }
            case Term::Kind::read: {
                const Number number = model_.object(model_.read(each.index).object).number;
                if (number == Number::boolean) return Compute::truth;
                if (c::is_integer(number)) return Compute::whole;
                return number == Number::f64 || is_wide(model_.read(each.index).object) ? Compute::f64
                                                                                        : Compute::f32;
            }
            case Term::Kind::convert:
                return converted(each);
            case Term::Kind::unary: {
                if (each.type == Number::boolean) return Compute::truth;
                const Compute made = of(each.operands[0]);
                if (made == Compute::whole || made == Compute::counted) check_zeros(each);
                return made;
            }
            case Term::Kind::binary:
                if (each.type == Number::boolean) {
                    if (each.text != "and" && each.text != "or") check_comparison(each);
                    return Compute::truth;
                }
                return operation(each, each.operands);
            case Term::Kind::call:
                return operation(each, each.operands);
            case Term::Kind::select:
                return operation(each, {each.operands[1], each.operands[2]});
            case Term::Kind::running:
            case Term::Kind::reduced:
            case Term::Kind::carried:
            case Term::Kind::garbage:
            case Term::Kind::unwritten:
                throw Refusal(each.where, "what is accumulated over cells is part of a formula here",
                              {"where a loop by itself accumulates it, it is lifted as a spec's `reduce`"});
        }
        return Compute::weak;
    }

    // Refuses what C computes in 64 bits and a spec would compute in the 32 bits of its params.
    void check_width(const Term& each) const {
        const bool is_long = each.type == Number::i64 || each.type == Number::u64 || each.type == Number::u32;
        const auto& terms = each.poly.terms();
        const bool is_plain = terms.empty() || (terms.size() == 1 && terms.begin()->second == 1 &&
                                                terms.begin()->first.size() < 2);
        if (!is_long || is_plain) return;
        for (const auto& [monomial, factor] : terms) {
            for (const int symbol : monomial) {
                const int scalar = model_.symbols[static_cast<std::size_t>(symbol)].scalar;
                if (scalar >= 0 && model_.scalars[static_cast<std::size_t>(scalar)].number == Number::i32)
                    throw Refusal(
                        each.where,
                        "this is computed in 64 bits, and a spec would compute it in 32: it may not fit");
            }
        }
    }

    Compute converted(const Term& each) {
        const Compute inner = of(each.operands[0]);
        const Term& from = model_.term(each.operands[0]);
        const bool rounds =
            each.type == Number::f32 && from.type == Number::f64 && from.kind != Term::Kind::number;
        if (rounds && inner == Compute::weak) note_float_params();
        return inner;
    }

    Compute operation(const Term& each, const std::vector<int>& operands) {
        const Compute all = join(operands);
        if (c::is_integer(each.type)) {
            if (all == Compute::f32 || all == Compute::f64) refuse(each, all);
            const bool is_long = each.type == Number::i64 || each.type == Number::u64;
            const bool is_narrow =
                all == Compute::whole &&
                !std::any_of(operands.begin(), operands.end(), [&](int id) { return is_long_number(id); });
            if (is_long && is_narrow && each.kind != Term::Kind::select)
                throw Refusal(
                    each.where,
                    "this is computed in 64 bits, and a spec would compute it in 32: it may not fit");
            return all;
        }
        if (all == Compute::weak) {
            if (each.type == Number::f32 && each.kind != Term::Kind::select) note_float_params();
            return all;
        }
        const bool is_whole = all == Compute::whole || all == Compute::counted;
        if (is_whole) {
            // Whole numbers that C has converted to reals.
            const bool is_fraction = std::any_of(operands.begin(), operands.end(), [&](int id) {
                return of(id) == Compute::weak && !is_whole_number(model_, id);
            });
            const bool in_reals = is_fraction || each.text == "/" || each.kind == Term::Kind::call;
            if (!in_reals && all == Compute::whole && largest_whole(model_, each) >= 0x1p31)
                throw Refusal(
                    each.where,
                    "this is computed in reals, and a spec would compute it in whole numbers: it may "
                    "not fit");
            if (!in_reals) check_zeros(each);
            const Compute real = in_reals ? widest_ : Compute::f64;
            if (each.type == Number::f32) refuse(each, Compute::f64);
            if (real == Compute::f32) refuse(each, Compute::f32);
            return all;
        }
        if ((each.type == Number::f32) != (all == Compute::f32)) refuse(each, all);
        return all;
    }

    void check_zeros(const Term& each) const {
        if (c::is_real(each.type) && may_make_zero_below_zero(model_, each))
            throw Refusal(
                each.where,
                "this is computed in reals, and a spec would compute it in whole numbers, which have "
                "no zero below zero");
    }
    void check_comparison(const Term& each) {
        const Compute all = join(each.operands);
        if (all != Compute::f32 && all != Compute::f64) return;
        const Number in = model_.term(each.operands[0]).type;
        if (in == Number::f32 && all == Compute::f64) refuse(each, all);
        if (in != Number::f64 || all != Compute::f32) return;
        for (const int id : each.operands) {
            const Term& operand = model_.term(id);
            const bool is_exact = of(id) == Compute::f32 ||
                                  (operand.kind == Term::Kind::number && is_float_value(operand.number));
            if (!is_exact) refuse(operand.kind == Term::Kind::number ? operand : each, all);
        }
    }

    void note_float_params() {
        const std::string text = "Float parameters are combined in double here and in float there.";
        if (std::find(result_.differences.begin(), result_.differences.end(), text) ==
            result_.differences.end())
            result_.differences.push_back(text);
    }

    Model& model_;
    const Form& form_;
    Precision result_;
    std::vector<int> used_;
    Compute widest_ = Compute::weak;
    std::map<int, Rounds> rounded_;
    std::set<int> varying_;  // terms that are not the same in all cells
};

}  // namespace

Precision find_precision(Model& model, const Form& form) {
    return PrecisionFinder(model, form).find();
}

}  // namespace halo::lift
