// Arrays of constants, and lists in braces.
#include <algorithm>

#include "compiler/lift/executor.h"
#include "compiler/lift/mutation.h"

namespace halo::lift {

namespace {
using ExprKind = c::Expr::Kind;
using Storage = c::Variable::Storage;
constexpr std::int64_t kMostAhead = 1024;
}  // namespace

// The numbers of a list in braces; those that are left out are zero.
void Executor::flatten(int list, int type_id, std::vector<Value>& into, SourceRange where) {
    const c::Type& of = type(type_id);
    if (of.kind == c::Type::Kind::number) {
        into.push_back(list >= 0                        ? value(list)
                       : c::is_real(number_of(type_id)) ? Value::of(number(0, number_of(type_id), where))
                                                        : Value::of(whole(0, number_of(type_id), where)));
        return;
    }
    const bool is_list = list < 0 || expr(list).kind == ExprKind::list;
    if (of.kind != c::Type::Kind::array || !of.count || !is_list)
        throw Refusal(where, "what this array begins with is not a list of numbers");
    for (std::int64_t i = 0; i < *of.count; ++i) {
        const bool is_given = list >= 0 && i < static_cast<std::int64_t>(expr(list).operands.size());
        flatten(is_given ? expr(list).operands[static_cast<std::size_t>(i)] : -1, of.element, into, where);
    }
}

// Whether it has one value, whenever it is computed: that of a static or global constant is from before.
bool Executor::is_literal(int id) const {
    const c::Expr& from = expr(id);
    switch (from.kind) {
        case ExprKind::integer:
        case ExprKind::real:
            return true;
        case ExprKind::variable: {
            const c::Variable& named = variable(from.variable);
            return named.is_const && named.init >= 0 && named.storage != Storage::parameter &&
                   (named.storage == Storage::global || named.is_static) && is_literal(named.init);
        }
        case ExprKind::unary:
        case ExprKind::binary:
        case ExprKind::conditional:
        case ExprKind::convert:
        case ExprKind::list:
            return std::all_of(from.operands.begin(), from.operands.end(),
                               [this](int operand) { return is_literal(operand); });
        case ExprKind::make:
            return from.function < 0 && std::all_of(
                                            from.operands.begin(), from.operands.end(),
                                            [this](int operand) { return is_literal(operand); });
        default:
            return false;
    }
}

// ---- short arrays as values: `{ny, nx}` that is handed over, a std::array that is copied

namespace {
std::string element_name(std::size_t k) {
    return "[" + std::to_string(k) + "]";
}
}  // namespace

// Of a list in braces: an object whose members are the elements.
Value Executor::array_of(int list) {
    std::vector<Value> elements;
    flatten(list, expr(list).type, elements, expr(list).where);
    Record made;
    for (std::size_t k = 0; k < elements.size(); ++k)
        made.own[element_name(k)] = std::move(elements[k]);
    return Value::of(made);
}

// Of an array that is the function's own, or of constants.
Value Executor::array_at(const Place& from, SourceRange where) {
    const std::int64_t count = elements(from.pointer.type).constant().value_or(0);
    if (!from.pointer.path.empty() || type(type(from.pointer.type).element).kind != c::Type::Kind::number)
        return Value::none("an array is used as a whole here");
    Record made;
    for (std::int64_t k = 0; k < count; ++k) {
        Place element = from;
        element.index = k;
        element.pointer.type = type(from.pointer.type).element;
        element.pointer = move(element.pointer, element.pointer.type, {k, {}}).pointer;
        made.own[element_name(static_cast<std::size_t>(k))] = load(element, where);
    }
    return Value::of(made);
}

// Puts the elements into a variable that is an array, or a reference to one.
void Executor::set_array(int id, const Value& given) {
    const c::Type& of = type(variable(id).type);
    if (given.kind != Value::Kind::record || given.record->variable >= 0)
        throw Refusal(variable(id).where, "a whole array is copied here, which is not followed");
    state_.small[id] = true;
    for (std::size_t k = 0; k < given.record->own.size(); ++k)
        state_.cells[{id, static_cast<std::int64_t>(k)}] =
            given.record->own.at(element_name(has(Mutation::shift_element) ? 0 : k));
    if (!of.is_reference) return;
    Place named;
    named.kind = Place::Kind::cell;
    named.variable = id;
    named.pointer.type = of.element;
    state_.references[id] = named;
}

bool Executor::is_array(int id) const {
    const c::Type& of = type(variable(id).type);
    return of.kind == c::Type::Kind::array ||
           (of.is_reference && type(of.element).kind == c::Type::Kind::array);
}

bool Executor::mentions(int id, int variable_id) const {
    if (id < 0) return false;
    const c::Expr& from = expr(id);
    return (from.kind == ExprKind::variable && from.variable == variable_id) ||
           std::any_of(from.operands.begin(), from.operands.end(),
                       [&](int operand) { return mentions(operand, variable_id); });
}

// Whether it is a sum of something and a small positive constant.
bool Executor::is_sum(const c::Expr& from) const {
    if (from.kind != ExprKind::binary || from.text != "+") return false;
    const c::Expr* more = &expr(from.operands[1]);
    while (more->kind == ExprKind::convert)
        more = &expr(more->operands[0]);
    return more->kind == ExprKind::integer && more->integer > 0 && more->integer < kMostAhead;
}

Value Executor::constant_element(int id, const Pointer& at, SourceRange where) {
    std::int64_t flat = flat_index(at, where);
    if (const auto held = state_.constants.find(id); held != state_.constants.end()) {
        if (flat < 0 || flat >= static_cast<std::int64_t>(held->second.size()))
            return Value::none("this is past the end of an array of constants");
        return held->second[static_cast<std::size_t>(flat)];
    }
    if (variable(id).init < 0 || !is_literal(variable(id).init))
        return Value::none("`" + variable(id).name + "` is computed once, and what of is not followed");
    int list = variable(id).init;
    int of = variable(id).type;
    while (type(of).kind == c::Type::Kind::array) {
        const auto size = elements(type(of).element).constant();
        if (list < 0 || expr(list).kind != ExprKind::list || !size || flat < 0) break;
        const std::int64_t which = flat / *size;
        flat %= *size;
        of = type(of).element;
        if (which >= static_cast<std::int64_t>(expr(list).operands.size())) {
            return Value::of(c::is_real(number_of(at.type)) ? number(0, number_of(at.type), where)
                                                            : whole(0, number_of(at.type), where));
        }
        list = expr(list).operands[static_cast<std::size_t>(which)];
    }
    if (list < 0 || type(of).kind != c::Type::Kind::number)
        return Value::none("this constant cannot be read");
    return value(list);
}

std::int64_t Executor::flat_index(const Pointer& at, SourceRange where) const {
    Polynomial sum;
    bool has_edges = false;
    for (const PathEntry& entry : at.path) {
        sum = sum + entry.index * entry.stride;
        has_edges = has_edges || !entry.edges.empty();
    }
    if (const auto fixed = sum.constant(); fixed && !has_edges) return *fixed;
    Refusal refusal(where, "which element of this small array is meant is not known before the loops");
    refusal.unrolling_may_help = true;
    throw refusal;
}

}  // namespace halo::lift
