// Expressions to Terms.
#include <algorithm>
#include <cmath>

#include "compiler/lift/executor.h"
#include "compiler/lift/mutation.h"

namespace halo::lift {

namespace {

using c::Number;
using ExprKind = c::Expr::Kind;

double rounded(double value, Number type) {
    return type == Number::f32 ? static_cast<double>(static_cast<float>(value)) : value;
}

// Unsigned arithmetic wraps around in C, and a spec's does not.
bool is_wrapping(Number type) {
    return type == Number::u32 || type == Number::u64;
}
// Of two unsigned constants of 64 bits, which are large where they are held as numbers below zero.
std::optional<bool> compared_constants(const std::string& op, const Term& a, const Term& b) {
    const auto is_constant = [](const Term& each) {
        return each.kind == Term::Kind::integer && each.type == Number::u64 && each.bits >= 64 &&
               each.poly.constant().has_value();
    };
    if (!is_constant(a) || !is_constant(b)) return std::nullopt;
    const auto x = static_cast<std::uint64_t>(*a.poly.constant()),
               y = static_cast<std::uint64_t>(*b.poly.constant());
    return op == "<"    ? x < y
           : op == "<=" ? x <= y
           : op == ">"  ? x > y
           : op == ">=" ? x >= y
           : op == "==" ? x == y
                        : x != y;
}

constexpr char kWraps[] =
    "an unsigned number is computed here that is not the same in all cells, and may wrap around";

std::string opposite(const std::string& op) {
    if (op == "<") return has(Mutation::swap_comparison) ? "<=" : ">=";
    if (op == "<=") return ">";
    if (op == ">") return "<=";
    if (op == ">=") return "<";
    return op == "==" ? "!=" : "==";
}

}  // namespace

Value Value::of(int term) {
    Value made;
    made.kind = Kind::term;
    made.term = term;
    return made;
}
Value Value::of(Pointer pointer) {
    Value made;
    made.kind = Kind::pointer;
    made.pointer = std::move(pointer);
    return made;
}
Value Value::none(std::string reason) {
    Value made;
    made.reason = std::move(reason);
    return made;
}

int Executor::add(Term term) {
    constexpr std::size_t kMaxTerms = 100'000;
    if (model_.terms.size() >= kMaxTerms)
        throw Refusal(term.where, "this function is too long to be lifted, written out");
    model_.terms.push_back(std::move(term));
    return static_cast<int>(model_.terms.size()) - 1;
}

int Executor::number(double value, Number type, SourceRange where) {
    Term made;
    made.kind = Term::Kind::number;
    made.type = type;
    made.number = rounded(value, type);
    made.where = where;
    return add(made);
}

int Executor::whole(const Polynomial& poly, Number type, SourceRange where) {
    Term made;
    made.kind = Term::Kind::integer;
    made.type = type;
    made.poly = unit_.is_cuda ? in_threads(poly) : poly;
    made.where = where;
    return add(made);
}

int Executor::term(int id) {
    const Value found = value(id);
    if (found.kind == Value::Kind::term) return found.term;
    if (found.kind == Value::Kind::nothing && !found.reason.empty())
        throw Refusal(expr(id).where, found.reason);
    throw Refusal(expr(id).where, "this is no number");
}

std::optional<Polynomial> Executor::integer(int id) {
    const Value found = value(id);
    if (found.kind == Value::Kind::nothing && !found.reason.empty())
        throw Refusal(expr(id).where, found.reason);
    if (found.kind != Value::Kind::term) return std::nullopt;
    const Term& made = model_.term(found.term);
    if (made.kind != Term::Kind::integer) return std::nullopt;
    return made.poly;
}

Polynomial Executor::known_integer(int id, const std::string& what) {
    const std::optional<Polynomial> found = integer(id);
    if (!found)
        throw Refusal(expr(id).where, what + " is not made of whole numbers that are known before the loops");
    return *found;
}

Pointer Executor::pointer(int id) {
    const Value found = value(id);
    if (found.kind == Value::Kind::pointer) return found.pointer;
    if (found.kind == Value::Kind::nothing && !found.reason.empty())
        throw Refusal(expr(id).where, found.reason);
    throw Refusal(expr(id).where, "which array this points into is not known");
}

Value Executor::value(int id) {
    if (++work_ > 4'000'000)
        throw Refusal(expr(id).where, "this function is too long to be lifted, written out");
    const c::Expr& from = expr(id);
    switch (from.kind) {
        case ExprKind::integer:
        case ExprKind::real:
            if (number_of(from.type) == Number::none)
                return Value::none("a number of a type that a spec does not have stands here");
            if (from.kind == ExprKind::real)
                return Value::of(number(from.real, number_of(from.type), from.where));
            return Value::of(c::is_real(number_of(from.type))
                                 ? number(static_cast<double>(from.integer), number_of(from.type), from.where)
                                 : truncated(whole(from.integer, Number::i64, from.where),
                                             number_of(from.type), from.where));
        case ExprKind::variable:
        case ExprKind::subscript:
        case ExprKind::dereference:
        case ExprKind::member:
            return load(place(id), from.where);
        case ExprKind::unary:
            return unary(from);
        case ExprKind::binary:
            return binary(from);
        case ExprKind::conditional:
            return conditional(from);
        case ExprKind::convert: {
            if (type(from.type).kind == c::Type::Kind::pointer) {
                const Value inner = value(from.operands[0]);
                if (inner.kind == Value::Kind::record)
                    return Value::none("an object is read as one of another type here");
                if (inner.kind != Value::Kind::pointer) return inner;
                Pointer moved = inner.pointer;
                moved.type = type(from.type).element;
                measure(moved.type);
                int element = moved.type;
                while (type(element).element >= 0)
                    element = type(element).element;
                Object& held = model_.objects[static_cast<std::size_t>(moved.object)];
                const Number number = type(element).number;
                if (held.number == Number::none) held.number = number;
                if (held.number != number && number != Number::none)
                    return Value::none("an array is read as one of another type here");
                return Value::of(moved);
            }
            const Value inner = value(from.operands[0]);
            if (inner.kind != Value::Kind::term) return inner;
            return convert(inner.term, number_of(from.type), from.where);
        }
        case ExprKind::address: {
            const Place named = place(from.operands[0]);
            if (named.kind == Place::Kind::element) return Value::of(named.pointer);
            if (named.kind == Place::Kind::record) {
                const Value held = held_by(named, from.where);  // what is given does not change
                if (held.kind == Value::Kind::record && held.record->variable >= 0 &&
                    held.record->own.empty())
                    return held;
            }
            return Value::none("the address of a variable is taken here; it may be changed from anywhere");
        }
        case ExprKind::call:
        case ExprKind::invoke: {
            const Value result = call(from);
            return result.kind == Value::Kind::place ? load(*result.place, from.where) : result;
        }
        case ExprKind::make:
            return make(from);
        case ExprKind::assign:
            return assignment(from);
        case ExprKind::step:
            return step(from);
        case ExprKind::comma:
            value(from.operands[0]);
            return value(from.operands[1]);
        case ExprKind::closure: {
            auto closure = std::make_shared<Closure>();
            closure->expr = id;
            for (const int copied : from.captured) {
                if (const auto found = state_.variables.find(copied); found != state_.variables.end())
                    closure->copies[copied] = found->second;
            }
            Value made;
            made.kind = Value::Kind::closure;
            made.closure = closure;
            return made;
        }
        case ExprKind::list:
            if (type(from.type).kind == c::Type::Kind::array) return array_of(id);
            if (from.operands.size() == 1) return value(from.operands[0]);
            return Value::none("a list is no number");
        case ExprKind::unknown:
            return Value::none(from.text);
    }
    return Value::none("this is not understood");
}

Value Executor::unary(const c::Expr& from) {
    const int operand = term(from.operands[0]);
    const Term inner = model_.term(operand);
    const bool keeps = from.text == "-" && has(Mutation::drop_minus);
    if (from.text == "+" || keeps) return Value::of(operand);
    if (from.text == "!")
        return convert(negation(truth(operand, from.where), from.where), number_of(from.type), from.where);
    if (from.text == "~") return Value::none("arithmetic on bits is not lifted");
    if (inner.kind == Term::Kind::number) return Value::of(number(-inner.number, inner.type, from.where));
    if (inner.kind == Term::Kind::integer)
        return Value::of(computed(inner.poly * Polynomial(-1), number_of(from.type), {operand}, from.where));
    if (is_wrapping(number_of(from.type))) return Value::none(kWraps);
    Term made;
    made.kind = Term::Kind::unary;
    made.type = number_of(from.type);
    made.text = "-";
    made.operands = {operand};
    made.where = from.where;
    return Value::of(add(made));
}

Value Executor::binary(const c::Expr& from) {
    const Value left = value(from.operands[0]);
    if (left.kind == Value::Kind::pointer) {
        if (from.text != "+" && from.text != "-") return Value::none("pointers are compared here");
        const std::optional<Shift> by = shift(from.operands[1]);
        if (!by) return Value::none("a pointer is moved by a number that is not known before the loops");
        return move(left.pointer, left.pointer.type, from.text == "+" ? *by : opposite_of(*by));
    }
    const bool may_be_skipped = from.text == "&&" || from.text == "||";
    const std::optional<State> before =
        may_be_skipped && has_effects(from.operands[1]) ? std::optional(state_) : std::nullopt;
    const Value right =
        may_be_skipped && left.kind == Value::Kind::term
            ? value_where(truth(left.term, from.where), from.text == "&&", from.operands[1], from.where)
            : value(from.operands[1]);
    if (before && has_changed(*before))
        return Value::none("something is changed in one branch of a condition");
    if (right.kind == Value::Kind::pointer && from.text == "+") {
        const std::optional<Shift> by = shift(from.operands[0]);
        if (by) return move(right.pointer, right.pointer.type, *by);
    }
    if (left.kind != Value::Kind::term) return left;
    if (right.kind != Value::Kind::term) return right;
    if (from.text == "&&" || from.text == "||") {
        const int a = truth(left.term, from.where), b = truth(right.term, from.where);
        for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
            if (const auto known = known_truth(one))
                return convert(*known == (from.text == "&&") ? other : one, number_of(from.type), from.where);
        }
        Term made;
        made.kind = Term::Kind::binary;
        made.type = Number::boolean;
        made.text = from.text == "&&" ? "and" : "or";
        made.operands = {a, b};
        made.where = from.where;
        return convert(add(made), number_of(from.type), from.where);  // an int in C
    }
    const bool compares = from.text == "<" || from.text == "<=" || from.text == ">" || from.text == ">=" ||
                          from.text == "==" || from.text == "!=";
    if (compares)
        return convert(compare(from.text, left.term, right.term, from.where), number_of(from.type),
                       from.where);
    return arithmetic(from.text, left.term, right.term, number_of(from.type), from.where);
}

int Executor::compare(const std::string& op, int left, int right, SourceRange where) {
    const Term a = model_.term(left), b = model_.term(right);
    if (const auto known = compared_constants(op, a, b)) return whole(*known ? 1 : 0, Number::boolean, where);
    require_exact(left, loops_around());
    require_exact(right, loops_around());
    if (a.kind == Term::Kind::integer && b.kind == Term::Kind::integer) {
        if (const auto apart = (a.poly - b.poly).constant()) {
            const std::int64_t d = *apart;
            const bool holds = op == "<"    ? d < 0
                               : op == "<=" ? d <= 0
                               : op == ">"  ? d > 0
                               : op == ">=" ? d >= 0
                               : op == "==" ? d == 0
                                            : d != 0;
            return whole(holds ? 1 : 0, Number::boolean, where);
        }
    }
    if (a.kind == Term::Kind::number && b.kind == Term::Kind::number) {
        const double x = a.number, y = b.number;
        const bool holds = op == "<"    ? x < y
                           : op == "<=" ? x <= y
                           : op == ">"  ? x > y
                           : op == ">=" ? x >= y
                           : op == "==" ? x == y
                                        : x != y;
        return whole(holds ? 1 : 0, Number::boolean, where);
    }
    Term made;
    made.kind = Term::Kind::binary;
    made.type = Number::boolean;
    made.text = op;
    made.operands = {left, right};
    made.where = where;
    return add(made);
}

Value Executor::arithmetic(const std::string& op, int left, int right, Number result, SourceRange where) {
    const Term a = model_.term(left), b = model_.term(right);
    if (c::is_integer(result)) {
        if (op == "/" || op == "%" || op == "&") return whole_division(op, left, right, result, where);
        if (op != "+" && op != "-" && op != "*") {
            const bool is_shift = op == "<<" && b.kind == Term::Kind::integer && b.poly.constant();
            if (!is_shift || a.kind != Term::Kind::integer)
                return Value::none("arithmetic on bits is not lifted");
            if (*b.poly.constant() < 0 || *b.poly.constant() > 30)
                return Value::none("this shifts by more bits than are followed");
            return Value::of(computed(a.poly * Polynomial(std::int64_t{1} << *b.poly.constant()), result,
                                      {left, right}, where));
        }
        if (const auto index = index_arithmetic(op, left, right, result, where)) return Value::of(*index);
        if (a.kind == Term::Kind::integer && b.kind == Term::Kind::integer) {
            const Polynomial made = op == "+"   ? a.poly + b.poly
                                    : op == "-" ? a.poly - b.poly
                                                : a.poly * b.poly;
            return Value::of(computed(made, result, {left, right}, where));
        }
        if (is_wrapping(result)) return Value::none(kWraps);
    } else if (a.kind == Term::Kind::number && b.kind == Term::Kind::number) {
        const double x = a.number, y = b.number;
        return Value::of(number(op == "+"   ? x + y
                                : op == "-" ? x - y
                                : op == "*" ? x * y
                                            : x / y,
                                result, where));
    }
    if (op != "+" && op != "-" && op != "*" && op != "/") return Value::none("`" + op + "` is not lifted");
    Term made;
    made.kind = Term::Kind::binary;
    made.type = result;
    made.text = op;
    made.operands = {left, right};
    if (op == "-" && has(Mutation::swap_difference)) std::swap(made.operands[0], made.operands[1]);
    made.where = where;
    return Value::of(add(made));
}

int Executor::truth(int id, SourceRange where) {
    const Term inner = model_.term(id);
    if (inner.kind == Term::Kind::select) {  // (c ? 1 : 0) is c
        const auto one = known_truth(inner.operands[1]), other = known_truth(inner.operands[2]);
        if (one && other && *one != *other)
            return *one ? inner.operands[0] : negation(inner.operands[0], where);
    }
    if (inner.type == Number::boolean) return id;
    const int zero = c::is_real(inner.type) ? number(0, inner.type, where) : whole(0, inner.type, where);
    return compare("!=", id, zero, where);
}

int Executor::negation(int id, SourceRange where) {
    const Term inner = model_.term(id);
    if (const auto known = known_truth(id)) return whole(*known ? 0 : 1, Number::boolean, where);
    if (inner.kind == Term::Kind::unary && inner.text == "not") return inner.operands[0];
    const bool is_comparison =
        inner.kind == Term::Kind::binary && inner.text != "and" && inner.text != "or" && inner.text != "mod";
    if (is_comparison && c::is_integer(model_.term(inner.operands[0]).type))
        return compare(opposite(inner.text), inner.operands[0], inner.operands[1], where);
    Term made;
    made.kind = Term::Kind::unary;
    made.type = Number::boolean;
    made.text = "not";
    made.operands = {id};
    made.where = where;
    return add(made);
}

Value Executor::convert(int id, Number to, SourceRange where) {
    const Term inner = model_.term(id);
    if (to == Number::none)
        return Value::none("a number of a type that a spec does not have is computed here");
    const bool narrows = inner.type == Number::f64 && to == Number::f32;
    if (inner.type == to || (narrows && has(Mutation::drop_narrowing))) return Value::of(id);
    if (to == Number::boolean) return Value::of(truth(id, where));
    if (inner.type == Number::boolean) {
        if (inner.kind == Term::Kind::integer)
            return Value::of(c::is_real(to) ? number(inner.poly.is_zero() ? 0 : 1, to, where)
                                            : whole(inner.poly, to, where));
        Term made;
        made.kind = Term::Kind::select;
        made.type = to;
        made.where = where;
        const int one = c::is_real(to) ? number(1, to, where) : whole(1, to, where);
        const int zero = c::is_real(to) ? number(0, to, where) : whole(0, to, where);
        made.operands = {id, one, zero};
        return Value::of(add(made));
    }
    if (inner.kind == Term::Kind::number) {
        if (c::is_real(to)) return Value::of(number(inner.number, to, where));
        const Span all = span_of(to);
        if (!(inner.number >= all.low && inner.number <= all.high && std::abs(inner.number) < 1e15))
            return Value::none("this number does not fit into an integer");
        return Value::of(whole(static_cast<std::int64_t>(inner.number), to, where));
    }
    if (inner.kind == Term::Kind::integer) {
        if (c::is_integer(to)) return Value::of(truncated(id, to, where));
        if (const auto fixed = inner.poly.constant(); fixed && inner.needs.empty())
            return Value::of(number(static_cast<double>(*fixed), to, where));
    }
    if (c::is_integer(to) && c::is_real(inner.type))
        return Value::none("a number is cut off to a whole one here, which rounds towards zero in C");
    if (c::is_integer(to) && c::is_integer(inner.type)) {
        const bool is_chosen = inner.kind == Term::Kind::select;  // of numbers that fit, each
        if (is_chosen) {
            const Value then = convert(inner.operands[1], to, where),
                        other = convert(inner.operands[2], to, where);
            if (then.kind != Value::Kind::term) return then;
            if (other.kind != Value::Kind::term) return other;
            Term made = inner;
            made.type = to;
            made.operands = {inner.operands[0], then.term, other.term};
            return Value::of(add(made));
        }
        const Span from = span_of(inner.type), into = span_of(to);
        if (from.low < into.low || from.high > into.high)
            return Value::none("a number may be cut off here, or wrap around, to fit into another type");
    }
    Term made;
    made.kind = Term::Kind::convert;
    made.type = to;
    made.operands = {id};
    made.where = where;
    return Value::of(add(made));
}

bool Executor::has_changed(const State& before) const {
    return state_.variables != before.variables || state_.stores.size() != before.stores.size() ||
           state_.cells != before.cells;
}

// Evaluates what is computed where the condition holds, or does not.
Value Executor::value_where(int condition, bool holds, int id, SourceRange where, bool is_place) {
    const std::vector<int> guards = state_.guards;
    const std::map<int, Bounds> bounds = state_.bounds;
    add_guard(condition, holds, where);
    Value found = is_place ? referred(id) : value(id);
    state_.guards = guards;
    state_.bounds = bounds;
    return found;
}

// is_place: its place, where it has one.
Value Executor::conditional(const c::Expr& from, bool is_place) {
    const int condition = truth(term(from.operands[0]), from.where);
    if (const auto decided = known_truth(condition)) {
        const int chosen = from.operands[*decided ? 1 : 2];
        return is_place ? referred(chosen) : value(chosen);
    }
    for (const bool holds : {true, false}) {
        const int side = from.operands[holds ? 1 : 2], chosen = from.operands[holds ? 2 : 1];
        if (expr(side).is_end && is_checked(condition, !holds))
            return is_place ? referred(chosen) : value(chosen);
    }
    const State before = state_;
    const Value then = value_where(condition, true, from.operands[1], from.where, is_place);
    const Value otherwise = value_where(condition, false, from.operands[2], from.where, is_place);
    if (has_changed(before)) return Value::none("something is changed in one branch of a condition");
    return merged(condition, then, otherwise, from.where);
}

}  // namespace halo::lift
