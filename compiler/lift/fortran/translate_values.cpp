#include "compiler/lift/fortran/translate_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "compiler/lift/mutation.h"

namespace halo::lift::fortran {

namespace {

using c::Number;
using ExprKind = c::Expr::Kind;

const std::map<std::string, std::string>& arithmetic() {
    static const std::map<std::string, std::string> names{
        {"arith.addf", "+"}, {"arith.subf", "-"},  {"arith.mulf", "*"},
        {"arith.divf", "/"}, {"arith.addi", "+"},  {"arith.subi", "-"},
        {"arith.muli", "*"}, {"arith.divsi", "/"}, {"arith.remsi", "%"}};
    return names;
}

// The functions of <math.h> for those of the dialect `math`.
const std::map<std::string, std::string>& functions() {
    static const std::map<std::string, std::string> names{
        {"math.sqrt", "sqrt"}, {"math.exp", "exp"},   {"math.log", "log"},     {"math.sin", "sin"},
        {"math.cos", "cos"},   {"math.tan", "tan"},   {"math.asin", "asin"},   {"math.acos", "acos"},
        {"math.atan", "atan"}, {"math.sinh", "sinh"}, {"math.cosh", "cosh"},   {"math.tanh", "tanh"},
        {"math.absf", "fabs"}, {"math.powf", "pow"},  {"math.atan2", "atan2"}, {"math.trunc", "trunc"}};
    return names;
}

// How arith.cmpi and arith.cmpf compare, by the numbers that MLIR has for it. Empty: not as Fortran does.
std::string comparison(const std::string& operation, std::int64_t predicate) {
    static const std::map<std::int64_t, std::string> whole{{0, "=="}, {1, "!="}, {2, "<"},
                                                           {3, "<="}, {4, ">"},  {5, ">="}};
    static const std::map<std::int64_t, std::string> real{{1, "=="}, {2, ">"},  {3, ">="},
                                                          {4, "<"},  {5, "<="}, {13, "!="}};
    const auto& names = operation == "arith.cmpi" ? whole : real;
    const auto found = names.find(predicate);
    return found == names.end() ? "" : found->second;
}

// `1.5 : f64`, or its bits: `0x7FF0000000000000 : f64`.
double real_of(const std::string& text, Number type) {
    if (text.rfind("0x", 0) != 0) {
        const double value = std::strtod(text.c_str(), nullptr);
        return type == Number::f32 ? static_cast<float>(value) : value;
    }
    const std::uint64_t bits = std::strtoull(text.c_str(), nullptr, 16);
    return type == Number::f32 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                               : std::bit_cast<double>(bits);
}

}  // namespace

std::string last_name(const std::string& unique) {
    const std::size_t at = unique.find_last_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return at == std::string::npos ? unique : unique.substr(at + 1);
}

std::string module_of(const std::string& unique) {
    return starts(unique, "_QM") ? unique.substr(3, unique.find_first_of("PFSE", 3) - 3) : "";
}

SourceRange ValueTranslator::place_of(const mlir::Location& where) const {
    if (where.line == 0 || where.file != file_) return head_;
    const std::uint32_t begin = text_.offset(where.line, where.column);
    const std::uint32_t end = text_.statement_end(begin);
    return end > begin ? SourceRange{begin, end} : head_;
}

int ValueTranslator::number(int value, SourceRange where) {
    const Held& known = held_[value];
    if (known.expr < 0)
        return build_.unknown("what this computes with is no number that is understood", where);
    if (!is_current(known.version))
        return build_.unknown("a number is used here that was read before something else has changed", where);
    return known.expr;
}

std::optional<std::int64_t> ValueTranslator::constant(int value) const {
    const mlir::Operation* from = maker(value);
    if (from == nullptr || !c::is_integer(number_named(module_.value(value).type))) return std::nullopt;
    if (from->name == "fir.convert") return constant(from->operands[0]);
    if (from->name != "arith.constant") return std::nullopt;
    const std::string text = from->attribute("value");
    if (text == "true") return 1;
    return std::strtoll(text.c_str(), nullptr, 10);
}

int ValueTranslator::before_widening(int value) const {
    const mlir::Operation* from = maker(value);
    if (from == nullptr || from->name != "fir.convert") return value;
    const Number before = number_named(module_.value(from->operands[0]).type);
    const std::string& type = module_.value(value).type;
    const bool widens =
        (type == "index" || type == "i64") && c::is_integer(before) && before != Number::boolean;
    return widens ? before_widening(from->operands[0]) : value;
}

int ValueTranslator::version_of(const mlir::Operation& from) {
    int version = -1;
    for (const int each : from.operands) {
        const int other = held_[each].version;
        if (other >= 0) version = version < 0 ? other : std::min(version, other);
    }
    return version;
}

void ValueTranslator::set(const mlir::Operation& from, int expr) {
    held_[from.results[0]] = {expr, -1, nullptr, version_of(from)};
}

int ValueTranslator::operand(const mlir::Operation& from, std::size_t i) {
    const int known = held_[from.operands[i]].expr;
    return known >= 0
               ? known
               : build_.unknown("what this computes with is no number that is understood", place_of(from));
}

bool ValueTranslator::translate_value(const mlir::Operation& from) {
    if (from.name == "fir.box_dims") {
        translate_lengths(from);
        return true;
    }
    if (from.name == "hlfir.elemental" || from.name == "hlfir.apply" || from.name == "hlfir.as_expr") {
        translate_elements(from);
        return true;
    }
    if (from.results.size() != 1 || !from.regions.empty()) return false;
    const std::string& type = module_.value(from.results[0]).type;
    const Number number = number_named(type);
    if (from.name == "hlfir.designate") {
        translate_element(from);
    } else if (number == Number::none) {
        return translate_other(from);
    } else if (from.name == "arith.constant") {
        translate_constant(from);
    } else if (from.name == "fir.load") {
        translate_load(from);
    } else if (from.name == "hlfir.no_reassoc") {
        set(from, operand(from, 0));
    } else if (const auto found = arithmetic().find(from.name); found != arithmetic().end()) {
        const int left = operand(from, 0), right = operand(from, 1);
        set(from, type == "index" ? sized(found->second, left, right)
                                  : build_.binary(found->second, number, left, right));
    } else if (from.name == "arith.negf") {
        const int inner = operand(from, 0);
        set(from, build_.add(ExprKind::unary, build_.number_type(number), place_of(from), {inner}, "-"));
    } else if (from.name == "arith.cmpi" || from.name == "arith.cmpf") {
        translate_comparison(from);
    } else if (from.name == "arith.select") {
        translate_choice(from);
    } else if (from.name == "arith.andi" || from.name == "arith.ori" || from.name == "arith.xori") {
        translate_logic(from);
    } else if (from.name == "fir.convert") {
        translate_conversion(from);
    } else if (from.name == "math.fpowi" || from.name == "math.ipowi") {
        translate_power(from);
    } else if (from.name == "math.copysign") {
        translate_sign(from);
    } else {
        return translate_call(from);
    }
    return true;
}

// A value of another type: what is at an address, which keeps what is known of that, or a number.
bool ValueTranslator::translate_other(const mlir::Operation& from) {
    const bool is_number = starts(from.name, "arith.") || starts(from.name, "math.") ||
                           starts(from.name, "complex.") || from.name == "fir.insert_value" ||
                           from.name == "fir.extract_value";
    if (from.name == "fir.load") {
        held_[from.results[0]] = {-1, held_[from.operands[0]].place, nullptr, -1};
    } else if (is_number) {
        set(from, build_.unknown("numbers of this type are not understood", place_of(from)));
    }
    return from.name == "fir.load" || is_number;
}

int ValueTranslator::written_number(const std::string& text, Number type, SourceRange where) {
    if (!c::is_real(type))
        return build_.whole(text == "true" ? 1 : std::strtoll(text.c_str(), nullptr, 10), type, where);
    const int id = build_.add(ExprKind::real, build_.number_type(type), where);
    build_.expr(id).real = real_of(text, type);
    return id;
}

void ValueTranslator::translate_constant(const mlir::Operation& from) {
    const std::string& type = module_.value(from.results[0]).type;
    const auto known = type == "index" ? constant(from.results[0]) : std::nullopt;
    const bool is_short = known && std::abs(*known) < (std::int64_t{1} << 30);
    set(from,
        written_number(from.attribute("value"), is_short ? Number::i32 : number_named(type), place_of(from)));
}

void ValueTranslator::translate_load(const mlir::Operation& from) {
    const Held source = held_[from.operands[0]];
    const bool is_number = source.place >= 0 && source.array == nullptr;
    const int read =
        is_number ? build_.read(source.place)
                  : build_.unknown("what is read here is no number that is understood", place_of(from));
    build_.expr(read).where = place_of(from);
    const bool is_steady = is_number && build_.expr(source.place).kind == ExprKind::variable &&
                           steady_.count(build_.expr(source.place).variable) > 0;
    const int now = is_steady ? -1 : version_;
    held_[from.results[0]] = {read, -1, nullptr, is_current(source.version) ? now : source.version};
}

void ValueTranslator::translate_element(const mlir::Operation& from) {
    const Held of = held_[from.operands[0]];
    const SourceRange where = place_of(from);
    const bool is_section = from.attribute("is_triplet").find("true") != std::string::npos;
    const bool is_part = !from.attribute("component").empty() || !from.attribute("complex_part").empty();
    const bool is_array = of.array != nullptr || of.section != nullptr;
    if (is_part || !is_array) {
        const bool is_unknown = of.place >= 0 && build_.expr(of.place).kind == ExprKind::unknown;
        const std::string what =
            is_unknown ? build_.expr(of.place).text
            : is_part  ? "members of derived types and parts of complex numbers are not understood"
                       : "an element of this is not understood";
        held_[from.results[0]] = {-1, build_.unknown(what, where)};
    } else if (is_section) {
        translate_section(from);
    } else {
        std::vector<int> subscripts;
        for (std::size_t i = 1; i < from.operands.size(); ++i)
            subscripts.push_back(held_[before_widening(from.operands[i])].expr);
        int version = version_of(from);
        held_[from.results[0]] = {-1, element(of, subscripts, where), nullptr, version};
    }
}

// How long an axis of an array of assumed shape is, between where it begins and how far apart its elements
// are.
void ValueTranslator::translate_lengths(const mlir::Operation& from) {
    const Array* array = held_[from.operands[0]].array;
    const std::optional<std::int64_t> axis = constant(from.operands[1]);
    const bool is_known =
        array != nullptr && axis && *axis >= 0 && *axis < static_cast<std::int64_t>(array->sizes.size());
    if (!is_known) return;
    const int size = array->sizes[static_cast<std::size_t>(*axis)];
    held_[from.results[1]] = {build_.read(build_.variable(size, place_of(from))), -1, nullptr, -1};
}

// A subscript less the array's lower bound. No index is so large that the type would matter.
int ValueTranslator::from_lower(int index, int lower, SourceRange where) {
    if (index < 0) return build_.unknown("this subscript is not understood", where);
    if (lower >= 0 && has(Mutation::drop_lower_bound)) return index;
    const Number type = build_.number_of(index);
    int first = lower >= 0 ? lower : build_.whole(1, type, where);
    const bool is_known = build_.expr(first).kind == ExprKind::integer;
    if (is_known && build_.expr(first).integer == 0) return index;
    if (is_known) first = build_.whole(build_.expr(first).integer, type, where);
    return sized("-", index, first);
}

int ValueTranslator::sized(const std::string& op, int left, int right) {
    const auto is_wide = [&](int id) { return build_.number_of(id) == Number::i64; };
    const Number type = is_wide(left) || is_wide(right) ? Number::i64 : Number::i32;
    const auto fit = [&](int id) {
        return build_.number_of(id) == type ? id : build_.convert(id, build_.number_type(type));
    };
    const int a = fit(left), b = fit(right);
    return build_.binary(op, type, a, b);
}

void ValueTranslator::translate_conversion(const mlir::Operation& from) {
    const std::string& old_type = module_.value(from.operands[0]).type;
    const std::string& new_type = module_.value(from.results[0]).type;
    const Number before = number_named(old_type), after = number_named(new_type);
    const int inner = operand(from, 0), narrow = held_[before_widening(from.operands[0])].expr;
    if (narrow >= 0 && c::is_integer(after) && after != Number::boolean && after < before &&
        build_.number_of(narrow) == after) {
        set(from, narrow);             // it was made longer before
    } else if (new_type == "index") {  // which is as long as its numbers need
        set(from, held_[before_widening(from.results[0])].expr);
    } else if (old_type == "index") {
        const bool is_same = build_.number_of(inner) == after;
        set(from, is_same ? inner : build_.convert(inner, build_.number_type(after)));
    } else if (before == after && starts(old_type, "!fir.logical") == starts(new_type, "!fir.logical")) {
        set(from, inner);
    } else if (starts(old_type, "!fir.logical") && after == Number::boolean) {
        set(from, truth(inner, place_of(from)));
    } else if (before == Number::none) {
        set(from, build_.unknown("this conversion is not understood", place_of(from)));
    } else {
        set(from, build_.convert(inner, build_.number_type(after)));
    }
}

int ValueTranslator::truth(int value, SourceRange where) {
    const c::Expr& from = build_.expr(value);
    const bool was_one =
        from.kind == ExprKind::convert && build_.number_of(from.operands[0]) == Number::boolean;
    return was_one
               ? from.operands[0]
               : build_.binary("!=", Number::boolean, value, build_.whole(0, build_.number_of(value), where));
}

void ValueTranslator::translate_comparison(const mlir::Operation& from) {
    const std::string op =
        comparison(from.name, std::strtoll(from.attribute("predicate").c_str(), nullptr, 10));
    const int left = operand(from, 0), right = operand(from, 1);
    set(from, op.empty() ? build_.unknown("this comparison is not understood", place_of(from))
                         : build_.binary(op, Number::boolean, left, right));
}

// MAX and MIN are a comparison and a choice among what it compares. Which of two zeros they give, and what of
// NaN, Fortran leaves open.
void ValueTranslator::translate_choice(const mlir::Operation& from) {
    const Number type = number_named(module_.value(from.results[0]).type);
    const int condition = operand(from, 0), then = operand(from, 1), otherwise = operand(from, 2);
    const mlir::Operation* compared = maker(from.operands[0]);
    const bool is_extreme = c::is_real(type) && compared != nullptr && compared->name == "arith.cmpf" &&
                            compared->operands[0] == from.operands[1] &&
                            compared->operands[1] == from.operands[2];
    const std::string& op = build_.expr(condition).text;
    if (is_extreme && (op == "<" || op == ">")) {
        const std::string name = std::string(op == "<" ? "fmin" : "fmax") + (type == Number::f32 ? "f" : "");
        set(from,
            build_.add(ExprKind::call, build_.number_type(type), place_of(from), {then, otherwise}, name));
        return;
    }
    set(from, build_.add(ExprKind::conditional, build_.number_type(type), place_of(from),
                         {condition, then, otherwise}));
}

void ValueTranslator::translate_logic(const mlir::Operation& from) {
    const int left = operand(from, 0), right = operand(from, 1);
    if (module_.value(from.results[0]).type != "i1") {
        set(from, build_.unknown("bits of whole numbers are not understood", place_of(from)));
    } else if (from.name != "arith.xori") {
        set(from, build_.binary(from.name == "arith.andi" ? "&&" : "||", Number::boolean, left, right));
    } else if (constant(from.operands[1]).has_value()) {  // .NOT.
        set(from,
            build_.add(ExprKind::unary, build_.number_type(Number::boolean), place_of(from), {left}, "!"));
    } else {
        set(from, build_.binary("!=", Number::boolean, left, right));
    }
}

// The product that gfortran makes of a small power: the same halves give the same bits.
int ValueTranslator::times(int base, std::int64_t power) {
    constexpr std::array<std::int64_t, 9> kHalves{0, 1, 1, 2, 2, 3, 3, 4, 4};
    if (power == 1) return base;
    const std::int64_t half = kHalves[static_cast<std::size_t>(power)];
    const int left = times(base, half), right = times(base, power - half);
    return build_.binary("*", build_.number_of(base), left, right);
}

void ValueTranslator::translate_power(const mlir::Operation& from) {
    const std::optional<std::int64_t> power = constant(from.operands[1]);
    const int base = operand(from, 0);
    set(from, power && *power >= 1 && *power <= 8
                  ? times(base, *power)
                  : build_.unknown("powers are understood where they are numbers from 1 to 8, or real",
                                   place_of(from)));
}

// SIGN(a, b), in which a zero may be below zero: one by it is.
void ValueTranslator::translate_sign(const mlir::Operation& from) {
    const Number type = number_named(module_.value(from.results[0]).type);
    const int of = build_.number_type(type);
    const SourceRange where = place_of(from);
    const int value = operand(from, 0), sign = operand(from, 1);
    const auto real = [&](double number) {
        const int made = build_.add(ExprKind::real, of, where);
        build_.expr(made).real = number;
        return made;
    };
    const auto below = [&](int number) { return build_.binary("<", Number::boolean, number, real(0)); };
    const int magnitude =
        build_.add(ExprKind::call, of, where, {value}, type == Number::f32 ? "fabsf" : "fabs");
    const int minus = build_.add(ExprKind::unary, of, where, {magnitude}, "-");
    if (build_.expr(sign).kind == ExprKind::real) {
        set(from, std::signbit(build_.expr(sign).real) ? minus : magnitude);
        return;
    }
    const int inverse = build_.binary("/", type, real(1), sign);
    const int is_below = build_.binary("||", Number::boolean, below(sign), below(inverse));
    set(from, build_.add(ExprKind::conditional, of, where, {is_below, minus, magnitude}));
}

bool ValueTranslator::translate_call(const mlir::Operation& from) {
    const auto found = functions().find(from.name);
    if (found == functions().end()) return false;
    const Number type = number_named(module_.value(from.results[0]).type);
    std::vector<int> operands;
    for (std::size_t i = 0; i < from.operands.size(); ++i)
        operands.push_back(operand(from, i));
    set(from, build_.add(ExprKind::call, build_.number_type(type), place_of(from), operands,
                         found->second + (type == Number::f32 ? "f" : "")));
    return true;
}

}  // namespace halo::lift::fortran
