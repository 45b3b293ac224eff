// Calls: of functions that the language has, and of those whose bodies are known.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "compiler/lift/executor.h"
#include "compiler/lift/mutation.h"
#include "compiler/lift/outline_memory.h"
#include "compiler/lift/stand_in_headers.h"

namespace halo::lift {

namespace {

using c::Number;
using ExprKind = c::Expr::Kind;

const std::map<std::string, std::string>& library() {
    static const std::map<std::string, std::string> names{
        {"sqrt", "sqrt"}, {"cbrt", "cbrt"},  {"exp", "exp"},        {"log", "log"},     {"sin", "sin"},
        {"cos", "cos"},   {"tan", "tan"},    {"asin", "asin"},      {"acos", "acos"},   {"atan", "atan"},
        {"sinh", "sinh"}, {"cosh", "cosh"},  {"tanh", "tanh"},      {"fabs", "abs"},    {"floor", "floor"},
        {"ceil", "ceil"}, {"pow", "pow"},    {"atan2", "atan2"},    {"trunc", "trunc"}, {"fmin", "min"},
        {"fmax", "max"},  {"rint", "round"}, {"nearbyint", "round"}};
    return names;
}

std::string without_prefix(std::string name) {
    for (const std::string prefix : {"std::", "__builtin_"}) {
        if (name.rfind(prefix, 0) == 0) name = name.substr(prefix.size());
    }
    return name;
}

// The name of the spec's function for that of C, with or without `std::`, `__builtin_` and the suffix `f`.
std::string library_function(const std::string& called) {
    const std::string name = without_prefix(called);
    if (const auto found = library().find(name); found != library().end()) return found->second;
    if (!name.empty() && name.back() == 'f') {
        if (const auto found = library().find(name.substr(0, name.size() - 1)); found != library().end())
            return found->second;
    }
    return "";
}

// Whether a CUDA function is approximate on a GPU, where the stand-in for it (stand_in_headers.h) rounds as C
// does.
bool is_approximate(const std::string& name) {
    static const std::set<std::string> names{"__expf", "__logf",     "__sinf", "__cosf",
                                             "__powf", "__fdividef", "rsqrtf", "rsqrt"};
    return names.count(name) > 0;
}

template <class Real>
std::optional<double> computed_as(const std::string& name, Real x, Real y) {
    using Function = Real (*)(Real, Real);
    static const std::map<std::string, Function> functions{
        {"sqrt", [](Real a, Real) { return std::sqrt(a); }},
        {"cbrt", [](Real a, Real) { return std::cbrt(a); }},
        {"exp", [](Real a, Real) { return std::exp(a); }},
        {"log", [](Real a, Real) { return std::log(a); }},
        {"sin", [](Real a, Real) { return std::sin(a); }},
        {"cos", [](Real a, Real) { return std::cos(a); }},
        {"tan", [](Real a, Real) { return std::tan(a); }},
        {"asin", [](Real a, Real) { return std::asin(a); }},
        {"acos", [](Real a, Real) { return std::acos(a); }},
        {"atan", [](Real a, Real) { return std::atan(a); }},
        {"sinh", [](Real a, Real) { return std::sinh(a); }},
        {"cosh", [](Real a, Real) { return std::cosh(a); }},
        {"tanh", [](Real a, Real) { return std::tanh(a); }},
        {"abs", [](Real a, Real) { return std::fabs(a); }},
        {"floor", [](Real a, Real) { return std::floor(a); }},
        {"ceil", [](Real a, Real) { return std::ceil(a); }},
        {"trunc", [](Real a, Real) { return std::trunc(a); }},
        {"round", [](Real a, Real) { return std::nearbyint(a); }},
        {"pow", [](Real a, Real b) { return std::pow(a, b); }},
        {"atan2", [](Real a, Real b) { return std::atan2(a, b); }},
        {"min", [](Real a, Real b) { return std::fmin(a, b); }},
        {"max", [](Real a, Real b) { return std::fmax(a, b); }}};
    const auto found = functions.find(name);
    if (found == functions.end()) return std::nullopt;
    return static_cast<double>(found->second(x, y));
}

}  // namespace

Value Executor::call(const c::Expr& from) {
    if (from.kind == ExprKind::invoke) {
        const Value callee = value(from.operands[0]);
        if (callee.kind != Value::Kind::closure) return Value::none("which function this calls is not known");
        // A closure sees the values that it has captured.
        std::map<int, Value> kept;
        for (const auto& [copied, held] : callee.closure->copies) {
            kept[copied] = state_.variables[copied];
            state_.variables[copied] = held;
        }
        Value result = call_known(from, from.function, {from.operands.begin() + 1, from.operands.end()});
        for (const auto& [copied, held] : kept)
            state_.variables[copied] = held;
        return result;
    }
    const bool is_same = from.text == "std::move" || from.text == "std::forward";
    if (is_same && from.operands.size() == 1) return value(from.operands[0]);
    if (std::optional<Value> made = call_library(from)) return *made;
    const bool has_body =
        from.function >= 0 && unit_.functions[static_cast<std::size_t>(from.function)].body >= 0;
    if (!has_body)
        throw Refusal(
            from.where, "`" + from.text + "` is called here, and its body is not in this file",
            {"a call may have side effects; functions whose bodies are known are looked into, and so are "
             "the functions of <math.h> that the language has"});
    return call_known(from, from.function, from.operands);
}

std::optional<Value> Executor::call_library(const c::Expr& from) {
    if (is_allocation(from.text)) {
        Object made;
        made.origin = Object::Origin::local;
        made.where = from.where;
        model_.objects.push_back(made);
        Pointer at;
        at.object = static_cast<int>(model_.objects.size()) - 1;
        at.type = type(from.type).kind == c::Type::Kind::pointer ? type(from.type).element : -1;
        return Value::of(at);
    }
    if (from.text == "free" || from.text == "delete[]" || from.text == "std::free") return Value::none("");
    if (from.text == kBarrier) return wait();
    if (c::is_hint(from.text)) return Value::none("");
    if (from.text == "__builtin_expect") return value(from.operands[0]);
    if (from.text == kTurn) return Value::of(whole(0, Number::u32, from.where));
    if (const auto chosen = call_of_choice(from)) return chosen;
    const std::string known = library_function(from.text);
    if (known.empty()) return std::nullopt;
    Term made;
    made.kind = Term::Kind::call;
    made.text = known;
    if (known == "min" && has(Mutation::swap_extremes)) made.text = "max";
    made.where = from.where;
    made.type = number_of(from.type);
    if (!c::is_real(made.type)) return std::nullopt;
    for (const int argument : from.operands)
        made.operands.push_back(term(argument));
    for (const int operand : made.operands) {
        if (model_.term(operand).type != made.type) return std::nullopt;
    }
    if (const auto fixed = value_of_constants(made)) return Value::of(number(*fixed, made.type, from.where));
    return Value::of(add(made));
}

// Functions of C that are a choice in a spec.
std::optional<Value> Executor::call_of_choice(const c::Expr& from) {
    const std::string name = without_prefix(from.text);
    const bool is_sign = name == "copysign" || name == "copysignf";
    if (!is_sign && name != "fdim" && name != "fdimf") return std::nullopt;
    const Number type = number_of(from.type);
    const int left = term(from.operands[0]), right = term(from.operands[1]);
    if (!c::is_real(type) || model_.term(left).type != type || model_.term(right).type != type)
        return std::nullopt;
    const auto made = [&](Term::Kind kind, Number of, const std::string& text, std::vector<int> operands) {
        Term each;
        each.kind = kind;
        each.type = of;
        each.text = text;
        each.operands = std::move(operands);
        each.where = from.where;
        return add(each);
    };
    const int zero = number(0, type, from.where);
    if (!is_sign) {  // NaN is no smaller than anything
        const Value apart = arithmetic("-", left, right, type, from.where);
        const int is_least = compare("<=", left, right, from.where);
        return Value::of(made(Term::Kind::select, type, "", {is_least, zero, apart.term}));
    }
    const Term given = model_.term(left);
    const bool is_known = given.kind == Term::Kind::number;
    const int size = is_known ? number(std::fabs(given.number), type, from.where)
                              : made(Term::Kind::call, type, "abs", {left});
    const int minus = is_known ? number(-std::fabs(given.number), type, from.where)
                               : made(Term::Kind::unary, type, "-", {size});
    if (const Term sign = model_.term(right); sign.kind == Term::Kind::number)
        return Value::of(std::signbit(sign.number) ? minus : size);
    // Zeros that have a sign show it in their inverse.
    const Value inverse = arithmetic("/", number(1, type, from.where), right, type, from.where);
    const int is_below =
        made(Term::Kind::binary, Number::boolean, "or",
             {compare("<", right, zero, from.where), compare("<", inverse.term, zero, from.where)});
    const std::string remark = "`" + name + "` takes the sign of a NaN for plus.";
    if (std::ranges::find(model_.remarks, remark) == model_.remarks.end()) model_.remarks.push_back(remark);
    return Value::of(made(Term::Kind::select, type, "", {is_below, minus, size}));
}

// A spec computes with constants exactly, C with what they round to.
std::optional<double> Executor::value_of_constants(const Term& call) const {
    std::vector<double> given;
    for (const int operand : call.operands) {
        if (model_.term(operand).kind != Term::Kind::number) return std::nullopt;
        given.push_back(model_.term(operand).number);
    }
    if (given.empty() || given.size() > 2) return std::nullopt;
    given.resize(2);
    return call.type == Number::f32
               ? computed_as(call.text, static_cast<float>(given[0]), static_cast<float>(given[1]))
               : computed_as(call.text, given[0], given[1]);
}

Value Executor::call_known(const c::Expr& from, int id, const std::vector<int>& arguments) {
    const c::Function& called = unit_.functions[static_cast<std::size_t>(id)];
    if (std::find(active_.begin(), active_.end(), id) != active_.end())
        throw Refusal(from.where, "`" + called.name + "` calls itself");
    const std::size_t before = from.kind == ExprKind::make ? 1 : 0;  // the object that is made
    if (called.parameters.size() != arguments.size() + before)
        throw Refusal(from.where,
                      "`" + called.name + "` is called with another number of arguments than it has");
    if (unit_.is_cuda && is_approximate(called.name)) {
        const std::string remark =
            "`" + called.name + "` is computed as C rounds it; a GPU's differs in the last places.";
        if (std::find(model_.remarks.begin(), model_.remarks.end(), remark) == model_.remarks.end())
            model_.remarks.push_back(remark);
    }
    // All arguments are computed before the function begins.
    std::vector<std::pair<int, Value>> given;
    if (before > 0) given.emplace_back(called.parameters[0], Value::of(Record{}));
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const int parameter = called.parameters[i + before];
        const c::Variable& named = variable(parameter);
        const bool refers = named.is_object || type(named.type).is_reference;
        given.emplace_back(parameter, refers ? referred(arguments[i]) : value(arguments[i]));
    }
    for (const auto& [parameter, held] : given)
        bind(parameter, held);
    const std::optional<Value> outer = std::exchange(state_.result, std::nullopt);
    const bool outer_left = std::exchange(state_.left, false);
    active_.push_back(id);
    declared_.emplace_back();
    run_isolated(called.body, 0);
    active_.pop_back();
    if (before > 0) state_.result = state_.variables.at(called.parameters[0]);
    // The function's local variables end with the call.
    std::set<int> own = std::move(declared_.back());
    declared_.pop_back();
    own.insert(called.parameters.begin(), called.parameters.end());
    for (const int each : own) {
        state_.variables.erase(each);
        state_.references.erase(each);
        if (is_array(each))
            std::erase_if(state_.cells, [each](const auto& cell) { return cell.first.first == each; });
    }
    Value result = state_.result.value_or(Value::none("`" + called.name + "` gives no number"));
    state_.result = outer;
    state_.left = outer_left;
    return result;
}

// Of calls those that are known to change nothing have none.
bool Executor::has_effects(int id) const {
    if (id < 0) return false;
    const auto is_known = [&](const c::Expr& each) {
        return each.kind == ExprKind::call && each.function >= 0 &&
               unit_.functions[static_cast<std::size_t>(each.function)].body >= 0;
    };
    const auto does_something = [&](const c::Expr& each) {
        if (each.is_end || c::is_hint(each.text)) return false;
        return each.kind == ExprKind::assign || each.kind == ExprKind::step ||
               each.kind == ExprKind::invoke || (each.kind == ExprKind::make && each.function >= 0) ||
               each.kind == ExprKind::unknown || (each.kind == ExprKind::call && !is_known(each));
    };
    const c::Expr& from = expr(id);
    if (from.is_end) return false;
    const bool acts =
        does_something(from) ||
        (is_known(from) &&
         has_expr(unit_.functions[static_cast<std::size_t>(from.function)].body, does_something));
    return acts || std::any_of(from.operands.begin(), from.operands.end(),
                               [&](int operand) { return has_effects(operand); });
}

bool Executor::names_place(int id) const {
    const ExprKind kind = expr(id).kind;
    return kind == ExprKind::variable || kind == ExprKind::subscript || kind == ExprKind::dereference ||
           kind == ExprKind::member;
}

// What a reference is bound to: a place, or the value of a temporary, which nothing else changes.
Value Executor::referred(int id) {
    if (names_place(id)) return Value::of(place(id));
    switch (expr(id).kind) {
        case ExprKind::call:
        case ExprKind::invoke:
            return call(expr(id));
        case ExprKind::integer:
        case ExprKind::real:
        case ExprKind::unary:
        case ExprKind::binary:
        case ExprKind::convert:
        case ExprKind::closure:
        case ExprKind::list:
        case ExprKind::make:
            return value(id);
        case ExprKind::conditional:
            return conditional(expr(id), /*is_place=*/true);
        default:
            return Value::none("what this reference is bound to is not followed");
    }
}

void Executor::bind(int id, const Value& to) {
    if (to.kind == Value::Kind::place) {
        state_.references[id] = *to.place;
        return;
    }
    state_.references.erase(id);
    if (is_array(id))
        set_array(id, to);
    else
        state_.variables[id] = to;
}

// What a function returns: of one that returns a reference the place, where that outlives the call.
Value Executor::returned(int id) {
    const c::Function& function = unit_.functions[static_cast<std::size_t>(active_.back())];
    const ExprKind kind = expr(id).kind;
    const bool is_place = names_place(id) || kind == ExprKind::call || kind == ExprKind::invoke ||
                          kind == ExprKind::conditional;
    if (!type(function.result).is_reference || !is_place) return value(id);
    const Value named = referred(id);
    if (named.kind != Value::Kind::place) return named;
    return ends_with_call(*named.place) ? load(*named.place, expr(id).where) : named;
}

// Whether a place is of a variable, or a temporary, of the function that is executed.
bool Executor::ends_with_call(const Place& at) const {
    if (at.kind == Place::Kind::chosen) return ends_with_call(*at.then) || ends_with_call(*at.otherwise);
    const bool is_variable =
        at.kind == Place::Kind::variable || at.kind == Place::Kind::cell || at.kind == Place::Kind::record;
    if (!is_variable) return false;
    const std::vector<int>& given = unit_.functions[static_cast<std::size_t>(active_.back())].parameters;
    return at.variable < 0 || std::count(given.begin(), given.end(), at.variable) > 0 ||
           (!declared_.empty() && declared_.back().count(at.variable) > 0);
}

}  // namespace halo::lift
