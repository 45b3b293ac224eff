// What expressions name: variables, cells of arrays, members.
#include <algorithm>
#include <set>

#include "compiler/lift/executor.h"
#include "compiler/lift/mutation.h"

namespace halo::lift {

namespace {

using c::Number;
using ExprKind = c::Expr::Kind;
using Storage = c::Variable::Storage;

std::string joined(const std::string& first, const std::vector<std::string>& members,
                   const std::string& with) {
    std::string text = first;
    for (const std::string& member : members)
        text += with + member;
    return text;
}

}  // namespace

bool Executor::is_small(int id) const {
    const auto found = state_.small.find(id);
    return found != state_.small.end() && found->second;
}

Polynomial Executor::elements(int type_id) {
    if (const auto found = element_counts_.find(type_id); found != element_counts_.end())
        return found->second;
    const c::Type& of = type(type_id);
    Polynomial count = 1;
    if (of.kind == c::Type::Kind::array) {
        if (of.count)
            count = Polynomial(*of.count) * elements(of.element);
        else if (of.count_expr >= 0)
            count = known_integer(of.count_expr, "the length of this array") * elements(of.element);
        else
            throw Refusal({}, "the length of an array is not known here");
    }
    element_counts_[type_id] = count;
    return count;
}

int Executor::object(int variable_id, const std::vector<std::string>& members, int type_id,
                     SourceRange where) {
    const c::Variable& named = variable(variable_id);
    const std::string key = joined(std::to_string(variable_id), members, ".");
    if (const auto found = objects_.find(key); found != objects_.end()) return found->second;
    Object made;
    made.name = member_name(named, members);
    made.variable = variable_id;
    made.members = members;
    made.where = where;
    const c::Type& of = type(type_id);
    made.is_restrict = of.is_restrict;
    made.is_in_memory = !members.empty() &&
                        (type(named.type).kind == c::Type::Kind::pointer || named.storage == Storage::global);
    made.is_inside = of.kind == c::Type::Kind::array && !members.empty();
    made.is_vector = of.is_vector || (of.is_reference && type(of.element).is_vector);
    made.is_own = named.is_own && members.empty();
    made.is_outer = named.is_outer && members.empty();
    made.shares = named.shares;
    if (of.kind == c::Type::Kind::array && members.empty() && named.storage != Storage::parameter)
        made.origin = named.storage == Storage::global || named.is_static ? Object::Origin::global
                                                                          : Object::Origin::local;
    int element = type_id, pointers = 0;
    while (type(element).kind == c::Type::Kind::pointer || type(element).kind == c::Type::Kind::array) {
        const bool refers = type(element).is_reference && type(type(element).element).is_vector;
        pointers += type(element).kind == c::Type::Kind::pointer && !refers ? 1 : 0;
        element = type(element).element;
    }
    made.rows_by_pointers = pointers > (of.kind == c::Type::Kind::pointer ? 1 : 0);
    made.number = number_of(element);
    const int id = static_cast<int>(model_.objects.size());
    model_.objects.push_back(made);
    objects_[key] = id;
    return id;
}

Value Executor::scalar(Scalar wanted) {
    std::string key = joined(std::to_string(wanted.variable), wanted.members, ".");
    if (wanted.element) key += "[" + std::to_string(*wanted.element) + "]";
    auto found = scalars_.find(key);
    if (found == scalars_.end()) {
        if (c::is_integer(wanted.number)) {
            wanted.symbol = symbol(Symbol::Kind::size, wanted.name);
            model_.symbols[static_cast<std::size_t>(wanted.symbol)].scalar =
                static_cast<int>(model_.scalars.size());
            if (const auto said = assumptions_.find(wanted.access); said != assumptions_.end()) {
                const Span all = span_of(wanted.number);
                const auto value = static_cast<double>(said->second);
                if (value < all.low || value > all.high)
                    throw Refusal(wanted.where, "`" + wanted.access + "` cannot be " +
                                                    std::to_string(said->second) + ", as --assume says");
                model_.symbols[static_cast<std::size_t>(wanted.symbol)].assumed = said->second;
            }
        }
        const c::Variable& named = variable(wanted.variable);
        const bool is_pointer = type(named.type).kind == c::Type::Kind::pointer;
        wanted.is_apart = named.is_own || (named.storage == Storage::global && !is_pointer);
        model_.scalars.push_back(wanted);
        found = scalars_.emplace(key, static_cast<int>(model_.scalars.size()) - 1).first;
    }
    const Scalar& known = model_.scalars[static_cast<std::size_t>(found->second)];
    const auto number_of_symbol = [&] {
        const auto& assumed = model_.symbols[static_cast<std::size_t>(known.symbol)].assumed;
        return assumed ? Polynomial(*assumed) : Polynomial::symbol(known.symbol);
    };
    if (known.symbol >= 0 && known.number == Number::boolean) {
        const int held = whole(number_of_symbol(), Number::i32, wanted.where);
        return Value::of(compare("!=", held, whole(0, Number::i32, wanted.where), wanted.where));
    }
    if (known.symbol >= 0) return Value::of(whole(number_of_symbol(), known.number, wanted.where));
    Term made;
    made.kind = Term::Kind::scalar;
    made.type = known.number;
    made.index = found->second;
    made.where = wanted.where;
    return Value::of(add(made));
}

Place Executor::place(int id) {
    const c::Expr& from = expr(id);
    switch (from.kind) {
        case ExprKind::variable: {
            if (const auto bound = state_.references.find(from.variable); bound != state_.references.end())
                return bound->second;
            if (is_class(from.variable)) return object_at(id);
            Place made;
            made.variable = from.variable;
            const c::Variable& named = variable(from.variable);
            if (named.is_shared) {
                if (block_) return shared_place(from.variable);
                throw Refusal(from.where, "`" + named.name + "` is shared by the threads of a block",
                              {"where threads share memory, the kernel as a whole is lifted"});
            }
            if (type(named.type).kind != c::Type::Kind::array) return made;
            if (is_small(from.variable)) {
                made.kind = Place::Kind::cell;
            } else if (named.is_const && named.init >= 0 &&
                       (state_.constants.count(from.variable) || is_literal(named.init))) {
                made.kind = Place::Kind::constant;
            } else {
                made.kind = Place::Kind::element;
                made.pointer.object = object(from.variable, {}, named.type, named.where);
            }
            made.pointer.type = named.type;
            return made;
        }
        case ExprKind::subscript:
            return subscript(from);
        case ExprKind::dereference: {
            if (type(from.type).is_class) return object_at(from.operands[0]);
            Place made;
            made.kind = Place::Kind::element;
            made.pointer = pointer(from.operands[0]);
            if (made.pointer.path.empty()) made.pointer = move(made.pointer, made.pointer.type, {}).pointer;
            return made;
        }
        case ExprKind::member:
            return member(from);
        case ExprKind::convert:
            return place(from.operands[0]);
        case ExprKind::conditional: {
            const auto decided = known_truth(truth(term(from.operands[0]), from.where));
            if (decided) return place(from.operands[*decided ? 1 : 2]);
            break;
        }
        case ExprKind::call:
        case ExprKind::invoke:
        case ExprKind::make:
            return object_at(id);
        default:
            break;
    }
    throw Refusal(from.where, from.kind == ExprKind::unknown ? from.text : "what this names is not known");
}

Place Executor::subscript(const c::Expr& from) {
    const c::Expr* base = &expr(from.operands[0]);
    Place made;
    // The conversion of an array to a pointer to its first element changes nothing.
    const bool decays =
        base->kind == ExprKind::convert && type(expr(base->operands[0]).type).kind == c::Type::Kind::array;
    Pointer at;
    if (const auto part = decays ? numbered_member(from) : std::nullopt) return *part;
    if (decays) {
        made = place(base->operands[0]);
        if (made.kind == Place::Kind::record) {
            Refusal refusal(base->where,
                            "which element of an array in an object is meant is not known before the loops");
            refusal.unrolling_may_help = true;
            throw refusal;
        }
        if (made.kind == Place::Kind::chosen) return chosen_part(made, from);
        at = made.pointer;
        at.type = type(at.type).element;
    } else {
        made.kind = Place::Kind::element;
        at = pointer(from.operands[0]);
    }
    const Value index = value(from.operands[1]);
    if (index.kind != Value::Kind::term)
        throw Refusal(expr(from.operands[1]).where, index.reason.empty() ? "this is no index" : index.reason);
    const Term& by = model_.term(index.term);
    if (const auto place = index_of(index.term)) {
        made.pointer = move(at, at.type, *place).pointer;
    } else if (const auto chosen =
                   made.kind == Place::Kind::element && is_plain_part(at.type) && by.text != "mod"
                       ? chosen_place(at, index.term, {})
                       : std::nullopt) {
        return *chosen;
    } else {
        // a[(t + 1) % 2]: one of several rotating arrays
        const bool is_remainder = by.kind == Term::Kind::binary && by.text == "mod";
        const Term counted = is_remainder ? model_.term(by.operands[0]) : by;
        std::int64_t count = 0;  // none that is known
        if (is_remainder) count = model_.term(by.operands[1]).poly.constant().value_or(0);
        if (reads_array(index.term))
            throw Refusal(
                expr(from.operands[1]).where,
                "the index is itself read from an array: which neighbour it is differs from cell to cell",
                {"indirect accesses are no stencil"});
        if (count < 1 || counted.kind != Term::Kind::integer || state_.loops.empty()) {
            Refusal refusal(
                expr(from.operands[1]).where,
                "which cell this is depends on more than the loops: the index is not a sum of loop indices "
                "and numbers");
            refusal.unrolling_may_help = true;  // of a choice by two indices
            throw refusal;
        }
        const int time = model_.loop(state_.loops.front()).symbol;
        const Polynomial rest = counted.poly - Polynomial::symbol(time);
        if (!rest.constant())
            throw Refusal(expr(from.operands[1]).where,
                          "a remainder as an index is lifted where it counts the steps "
                          "of a loop over time, as in `[t % 2]`");
        PathEntry entry;
        entry.level = at.level;
        entry.stride = elements(at.type);
        entry.modulus = static_cast<int>(count);
        entry.phase = static_cast<int>(((*rest.constant() % count) + count) % count);
        at.path.push_back(entry);
        made.pointer = at;
    }
    if (made.kind == Place::Kind::cell && type(made.pointer.type).kind == c::Type::Kind::number)
        made.index =
            is_shared(made.variable) ? shared_index(made, from.where) : flat_index(made.pointer, from.where);
    return made;
}

bool Executor::reads_array(int id) const {
    const Term& from = model_.term(id);
    return from.kind == Term::Kind::read || std::any_of(from.operands.begin(), from.operands.end(),
                                                        [this](int operand) { return reads_array(operand); });
}

Value Executor::load(const Place& from, SourceRange where) {
    switch (from.kind) {
        case Place::Kind::variable:
            return load_variable(from.variable, where);
        case Place::Kind::cell: {
            if (is_shared(from.variable)) return load_shared(from, where);
            if (type(from.pointer.type).kind != c::Type::Kind::number) return array_at(from, where);
            const auto found = state_.cells.find({from.variable, from.index});
            if (found == state_.cells.end()) return Value::none("this has no value yet");
            return found->second;
        }
        case Place::Kind::constant:
            if (from.pointer.object == -1 && from.pointer.type < 0) {
                if (from.index < 0) return Value::of(static_cast<int>(-1 - from.index));
                return Value::of(whole(Polynomial::symbol(static_cast<int>(from.index)), Number::u32, where));
            }
            if (type(from.pointer.type).is_std_array) return array_at(from, where);
            return constant_element(from.variable, from.pointer, where);
        case Place::Kind::element:
            return load_element(from.pointer, where);
        case Place::Kind::chosen:
            return load_chosen(from, where);
        case Place::Kind::record:
            return load_record(from, where);
    }
    return Value::none("this is not understood");
}

Value Executor::load_variable(int id, SourceRange where) {
    const auto found = state_.variables.find(id);
    return found != state_.variables.end() ? found->second : given_value(id, where);
}

// Of a variable that the function has not set.
Value Executor::given_value(int id, SourceRange where) {
    const c::Variable& named = variable(id);
    const c::Type& of = type(named.type);
    if (named.storage == Storage::local && !(named.is_static && named.is_const))
        return Value::none("`" + named.name + "` has no value yet" +
                           (named.is_static ? ", or one of an earlier call" : ""));
    if (named.is_const && named.init >= 0 && of.kind == c::Type::Kind::number && is_literal(named.init)) {
        const Value init = value(named.init);
        if (init.kind == Value::Kind::term) return convert(init.term, of.number, where);
        return init;
    }
    if (named.is_static && named.storage == Storage::local)
        return Value::none("`" + named.name + "` holds what the first call has put into it");
    if (of.kind == c::Type::Kind::number) {
        Scalar wanted;
        wanted.name = wanted.access = named.name;
        wanted.number = of.number;
        wanted.variable = id;
        wanted.in_memory =
            named.is_reached || (named.storage == Storage::global && !named.is_const && !unit_.is_cuda);
        wanted.where = where;
        return scalar(wanted);
    }
    if (of.is_class || (of.kind == c::Type::Kind::pointer && type(of.element).is_class)) {
        Record made;
        made.variable = id;
        return Value::of(made);
    }
    if (of.kind == c::Type::Kind::pointer) {
        Pointer made;
        made.object = object(id, {}, named.type, named.where);
        const bool refers = of.is_reference && type(of.element).is_vector;
        made.type = refers ? type(of.element).element : of.element;
        return Value::of(made);
    }
    return Value::none("`" + named.name + "` is of a type that is not followed");
}

Value Executor::load_element(const Pointer& at, SourceRange where) {
    const c::Type& of = type(at.type);
    if (of.kind == c::Type::Kind::pointer) {  // the pointer that lies there
        Pointer next = at;
        next.level = at.level + 1;
        next.type = of.element;
        return Value::of(next);
    }
    if (of.kind == c::Type::Kind::array) return Value::of(at);
    if (of.kind != c::Type::Kind::number) return Value::none("this is of a type that is not followed");
    Read made;
    made.object = at.object;
    made.path = at.path;
    made.sequence = static_cast<int>(state_.stores.size());
    made.loops = loops_around();
    for (const int loop : made.loops)
        made.bounds[loop] = bounds_of(loop);
    made.where = where;
    Term read;
    read.kind = Term::Kind::read;
    read.type = of.number;
    read.where = where;
    read.index = static_cast<int>(model_.reads.size());
    if (has(Mutation::shift_read) && !made.path.empty()) made.path.back().index = made.path.back().index + 1;
    model_.reads.push_back(made);
    return Value::of(add(read));
}

// An array from malloc is called like the first variable that points to it.
void Executor::name_heap(const Value& given, const std::string& name) {
    if (given.kind != Value::Kind::pointer) return;
    Object& held = model_.objects[static_cast<std::size_t>(given.pointer.object)];
    if (held.name.empty()) held.name = name;
}

void Executor::assign(const Place& to, Value given, SourceRange where) {
    if (to.kind == Place::Kind::chosen)
        throw Refusal(where, "which cell is written here depends on a condition");
    if (to.kind == Place::Kind::constant)
        throw Refusal(where, "what is assigned here belongs to a struct or is constant");
    if (to.kind == Place::Kind::record) {
        assign_member(to, std::move(given), where);
        return;
    }
    if (to.kind == Place::Kind::element) {
        const c::Type& of = type(to.pointer.type);
        if (of.kind != c::Type::Kind::number)
            throw Refusal(where, "a pointer that lies in memory is changed here",
                          {"pointers that are variables of the function may be swapped"});
        if (given.kind != Value::Kind::term)
            throw Refusal(where, given.reason.empty() ? "this is no number" : given.reason);
        if (of.is_const) throw Refusal(where, "this array is constant");
        for (const PathEntry& entry : to.pointer.path) {
            if (!entry.edges.empty())
                throw Refusal(where, "which cell is written here differs at an edge of the grid");
        }
        given.term = without_garbage(given.term, where);
        for (const int guard : state_.guards)
            if (has_garbage(guard)) without_garbage(guard, where);
        require_exact(given.term, loops_around());
        Store made;
        made.object = to.pointer.object;
        made.path = to.pointer.path;
        made.value = given.term;
        made.guards = state_.guards;
        made.loops = loops_around();
        for (const int loop : made.loops)
            made.bounds[loop] = bounds_of(loop);
        made.where = where;
        state_.stores.push_back(made);
        return;
    }
    const c::Variable& named = variable(to.variable);
    if (to.kind == Place::Kind::cell) {
        if (is_shared(to.variable) && given.kind != Value::Kind::term)
            throw Refusal(where, given.reason.empty() ? "this is no number" : given.reason);
        state_.cells[{to.variable, to.index}] = given;
        return;
    }
    if (named.storage == Storage::global)
        throw Refusal(where, "`" + named.name + "` is a global variable: changing it is a side effect");
    if (named.storage == Storage::local && type(named.type).is_reference)
        throw Refusal(where, "`" + named.name + "` is a reference, and what it is bound to is not followed");
    name_heap(given, named.name);
    if (given.kind == Value::Kind::term) {
        Term& held = model_.terms[static_cast<std::size_t>(given.term)];
        const bool is_leaf = held.kind == Term::Kind::number || held.kind == Term::Kind::integer ||
                             held.kind == Term::Kind::scalar || held.kind == Term::Kind::read;
        if (!is_leaf && held.hint.empty()) held.hint = named.name;
    }
    state_.variables[to.variable] = std::move(given);
}

Value Executor::assignment(const c::Expr& from) {
    const Place to = place(from.operands[0]);
    if (from.text == "=") {
        Value given = value(from.operands[1]);
        assign(to, given, from.where);
        return given;
    }
    const Value before = load(to, expr(from.operands[0]).where);
    if (before.kind == Value::Kind::pointer) {
        const Polynomial by = known_integer(from.operands[1], "what the pointer is moved by");
        Value moved =
            move(before.pointer, before.pointer.type, {from.text == "+=" ? by : by * Polynomial(-1), {}});
        assign(to, moved, from.where);
        return moved;
    }
    if (before.kind != Value::Kind::term)
        throw Refusal(from.where, before.reason.empty() ? "this has no value yet" : before.reason);
    const Number computed = number_of(from.type);
    const Value left = convert(before.term, computed, from.where);
    const Value right = convert(term(from.operands[1]), computed, from.where);
    if (left.kind != Value::Kind::term) throw Refusal(from.where, left.reason);
    if (right.kind != Value::Kind::term) throw Refusal(from.where, right.reason);
    Value made =
        arithmetic(from.text.substr(0, from.text.size() - 1), left.term, right.term, computed, from.where);
    if (made.kind == Value::Kind::term)
        made = convert(made.term, number_of(expr(from.operands[0]).type), from.where);
    assign(to, made, from.where);
    return made;
}

Value Executor::step(const c::Expr& from) {
    const Place to = place(from.operands[0]);
    const Value before = load(to, from.where);
    const std::int64_t by = from.text.find("++") != std::string::npos ? 1 : -1;
    Value after;
    if (before.kind == Value::Kind::pointer)
        after = move(before.pointer, before.pointer.type, {by, {}});
    else if (before.kind == Value::Kind::term && c::is_integer(model_.term(before.term).type))
        after = arithmetic("+", before.term, whole(by, model_.term(before.term).type),
                           model_.term(before.term).type, from.where);
    else
        throw Refusal(from.where, before.reason.empty() ? "this is not counted up" : before.reason);
    assign(to, after, from.where);
    return from.text[0] == 'x' ? before : after;
}

}  // namespace halo::lift
