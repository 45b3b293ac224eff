// Objects of classes: their members, and those that a function makes.
#include <algorithm>

#include "compiler/lift/executor.h"
#include "compiler/lift/mutation.h"

namespace halo::lift {

namespace {

using c::Number;
using ExprKind = c::Expr::Kind;
using Storage = c::Variable::Storage;

constexpr char kNotFollowed[] = "which member this is cannot be followed";
constexpr char kOfStruct[] = "what is assigned here belongs to a struct or is constant";

bool leads_on(const std::string& member) {
    return member.ends_with("->");
}
std::string without_arrow(const std::string& member) {
    return leads_on(member) ? member.substr(0, member.size() - 2) : member;
}

// Many classes mark their members: m_nx, nx_.
std::string undecorated(const std::string& member) {
    const std::size_t end = member.find_last_not_of('_');
    if (end == std::string::npos) return member;
    const std::size_t first = member.find_first_not_of('_');
    const std::size_t begin = first == 0 && end > 1 && member.starts_with("m_") ? 2 : first;
    return end < begin ? member : member.substr(begin, end + 1 - begin);
}

// The object with another value in the member that a path leads to, from its part number `at` on.
Record with_member(const Record& of, const std::vector<std::string>& path, std::size_t at, Value held) {
    Record made = of;
    if (at + 1 < path.size()) {
        Record part;
        if (const auto found = of.own.find(path[at]); found != of.own.end() && found->second.record) {
            part = *found->second.record;
        } else if (of.variable >= 0) {
            part.variable = of.variable;
            part.members = of.members;
            part.members.push_back(path[at]);
            part.is_hidden = of.is_hidden;
        }
        held = Value::of(with_member(part, path, at + 1, std::move(held)));
    }
    const bool is_array = held.record && held.record->variable < 0 && !held.record->own.empty() &&
                          held.record->own.begin()->first.starts_with("[");
    if (!is_array) {
        made.own[path[at]] = std::move(held);
        return made;
    }
    for (const auto& [element, number] : held.record->own)
        made.own[path[at] + element] = number;
    return made;
}

}  // namespace

std::string members_text(const std::vector<std::string>& members) {
    std::string text;
    for (const std::string& each : members)
        text += (text.empty() || text.ends_with("->") || text.ends_with("::") ? "" : ".") + each;
    return text;
}

std::string access_text(const c::Unit& unit, int variable, const std::vector<std::string>& members) {
    const c::Variable& named = unit.variables[static_cast<std::size_t>(variable)];
    const c::Type& of = unit.types[static_cast<std::size_t>(named.type)];
    return way_text(named.name, of.kind == c::Type::Kind::pointer && !of.is_reference, members);
}

std::string way_text(std::string object, bool is_pointer, const std::vector<std::string>& members) {
    std::string base;
    for (const std::string& each : members) {
        if (!each.ends_with("::")) {
            object += (is_pointer ? "->" : ".") + base + without_arrow(each);
            is_pointer = leads_on(each);
            base.clear();
            continue;
        }
        base += each;
        const std::string name = each.substr(0, each.size() - 2);
        if (name.find("::") == std::string::npos) continue;
        object = "((" + name + "&)" + (is_pointer ? "*" : "") + object + ")";
        is_pointer = false;
        base.clear();
    }
    return object;
}

std::string member_name(const c::Variable& named, const std::vector<std::string>& members) {
    constexpr std::size_t kMostNamed = 2;  // of a longer path the last one
    std::string name = named.is_object ? "" : named.name;
    const bool is_long = members.size() > kMostNamed;
    for (std::size_t i = 0; i < members.size(); ++i) {
        const std::string& each = members[i];
        const bool is_first = i == 0 && named.is_object;  // tells several objects of a class from each other
        if (each.ends_with("::") || (is_long && i + 1 < members.size() && !is_first)) continue;
        std::string part = undecorated(without_arrow(each));
        if (part.ends_with(']')) {  // sizes[1]
            const std::size_t open = part.rfind('[');
            part = undecorated(part.substr(0, open)) + "_" + part.substr(open + 1, part.size() - open - 2);
        }
        name += (name.empty() ? "" : "_") + part;
    }
    return name;
}

Value Value::of(Record record) {
    Value made;
    made.kind = Kind::record;
    made.record = std::make_shared<const Record>(std::move(record));
    return made;
}
Value Value::of(Place place) {
    Value made;
    made.kind = Kind::place;
    made.place = std::make_shared<const Place>(std::move(place));
    return made;
}

// Whether a variable is an object, or a reference to one.
bool Executor::is_class(int id) const {
    const c::Type& of = type(variable(id).type);
    return of.is_class || (of.is_reference && type(of.element).is_class);
}

// The object that an expression, or the pointer that it is, leads to.
Place Executor::object_at(int id) {
    const c::Expr& from = expr(id);
    Place made;
    made.kind = Place::Kind::record;
    switch (from.kind) {
        case ExprKind::variable: {
            const auto bound = state_.references.find(from.variable);
            if (bound != state_.references.end()) return bound->second;
            const std::vector<int>& given =
                unit_.functions[static_cast<std::size_t>(unit_.function)].parameters;
            const bool is_lost = variable(from.variable).is_object &&
                                 !state_.variables.count(from.variable) &&
                                 std::count(given.begin(), given.end(), from.variable) == 0;
            if (is_lost) throw Refusal(from.where, "which object this is is not known here");
            made.variable = from.variable;
            return made;
        }
        case ExprKind::member:
            return member(from);
        case ExprKind::dereference:
        case ExprKind::address:
            return object_at(from.operands[0]);
        case ExprKind::call:
        case ExprKind::invoke:
        case ExprKind::make:
        case ExprKind::conditional: {
            const Value held = referred(id);
            if (held.kind == Value::Kind::place) return *held.place;
            if (held.kind == Value::Kind::nothing && !held.reason.empty())
                throw Refusal(from.where, held.reason);
            if (held.kind != Value::Kind::record) break;
            made.record = held.record;
            return made;
        }
        default:
            break;
    }
    throw Refusal(from.where, from.kind == ExprKind::unknown ? from.text
                              : type(from.type).is_class     ? kNotFollowed
                                                             : "what this names is not known");
}

// What an object, or a member of it, holds; of what the function is given, which of it that is.
Value Executor::held_by(const Place& at, SourceRange where) {
    Value held;
    if (at.record) {
        held.kind = Value::Kind::record;
        held.record = at.record;
    } else if (const auto found = state_.variables.find(at.variable); found != state_.variables.end()) {
        held = found->second;
    } else {
        const c::Variable& named = variable(at.variable);
        const bool is_made = named.is_const && named.init >= 0 && expr(named.init).kind == ExprKind::make;
        if (is_made && is_literal(named.init)) {
            held = value(named.init);
        } else if (named.storage == Storage::local) {
            return Value::none("`" + named.name + "` has no value yet");
        } else {
            Record given;
            given.variable = at.variable;
            held = Value::of(given);
        }
    }
    for (const std::string& member : at.members) {
        if (held.kind == Value::Kind::nothing) return held;
        if (held.kind != Value::Kind::record) throw Refusal(where, kNotFollowed);
        const Record of = *held.record;
        if (const auto own = of.own.find(without_arrow(member)); own != of.own.end()) {
            held = own->second;
            continue;
        }
        if (of.variable < 0) return Value::none("`" + without_arrow(member) + "` has no value yet");
        Record part;
        part.variable = of.variable;
        part.members = of.members;
        part.members.push_back(member);
        part.is_hidden = of.is_hidden || at.is_hidden;
        held = Value::of(part);
    }
    return held;
}

// Of a struct: a number, a pointer to an array, or an object in it.
Place Executor::member(const c::Expr& from) {
    if (const auto launch = launch_place(from)) return *launch;
    Place made = object_at(from.operands[0]);
    if (made.kind != Place::Kind::record) throw Refusal(from.where, kNotFollowed);
    if (is_pointer(made)) made.members.back() += "->";
    made.members.push_back(from.text);
    made.is_hidden = made.is_hidden || from.is_hidden;
    made.pointer.type = from.type;
    const Value held = held_by(made, from.where);
    const bool is_given = held.kind == Value::Kind::record && held.record->variable >= 0;
    const c::Type& of = type(from.type);
    const bool is_object = of.is_class || (of.kind == c::Type::Kind::pointer && type(of.element).is_class);
    return is_given && !is_object ? given_member(*held.record, from.type, from.where) : made;
}

// threadIdx.x and its like.
std::optional<Place> Executor::launch_place(const c::Expr& from) {
    const c::Expr& base = expr(from.operands[0]);
    if (!unit_.is_cuda || base.kind != ExprKind::variable) return std::nullopt;
    const std::string& name = variable(base.variable).name;
    if (name != "threadIdx" && name != "blockIdx" && name != "blockDim" && name != "gridDim")
        return std::nullopt;
    Place made;
    made.variable = base.variable;
    made.kind = Place::Kind::constant;
    made.pointer.object = -1;
    const int number = block_ ? launch_number(name, from.text) : -1;
    made.index = number < 0 ? symbol(Symbol::Kind::builtin, name + "." + from.text) : -1 - number;
    return made;
}

// Element number k of an array in an object, as a member of its own, `sizes[k]`: where the object is made
// here, and of whole numbers, which subscripts and bounds are made of.
std::optional<Place> Executor::numbered_member(const c::Expr& from) {
    const c::Expr& array = expr(expr(from.operands[0]).operands[0]);
    const c::Number number = type(from.type).number;
    if (array.kind != ExprKind::member || number == Number::none) return std::nullopt;
    if (has_effects(from.operands[0]) || has_effects(from.operands[1])) return std::nullopt;
    Place made = object_at(array.operands[0]);
    if (made.kind != Place::Kind::record) return std::nullopt;
    const Value object = held_by(made, array.where);
    const bool is_given =
        object.kind == Value::Kind::record && object.record->variable >= 0 && object.record->own.empty();
    if (is_given && !c::is_integer(number)) return std::nullopt;
    const Value index = value(from.operands[1]);
    const bool is_whole =
        index.kind == Value::Kind::term && model_.term(index.term).kind == Term::Kind::integer;
    const auto which = is_whole ? model_.term(index.term).poly.constant() : std::nullopt;
    if (!which) return std::nullopt;
    if (*which < 0 || *which >= type(array.type).count.value_or(0))
        throw Refusal(from.where, "this is past the end of an array in an object");
    if (is_pointer(made)) made.members.back() += "->";
    made.members.push_back(array.text + "[" + std::to_string(*which) + "]");
    made.is_hidden = made.is_hidden || array.is_hidden;
    made.pointer.type = from.type;
    const Value held = held_by(made, from.where);
    return held.kind == Value::Kind::record ? given_member(*held.record, from.type, from.where) : made;
}

// No array has elements that are members of their own and is written besides.
void Executor::check_numbered() const {
    for (const Store& store : model_.stores) {
        if (store.object < 0 || !model_.object(store.object).is_inside) continue;
        const Object& array = model_.object(store.object);
        for (const Scalar& each : model_.scalars) {
            const bool is_element = each.variable == array.variable &&
                                    each.members.size() == array.members.size() &&
                                    members_text(each.members).starts_with(members_text(array.members) + "[");
            if (is_element)
                throw Refusal(store.where, "`" + each.access +
                                               "` is read, and the array that it is in is "
                                               "written here");
        }
    }
}

Place Executor::given_member(const Record& given, int type_id, SourceRange where) {
    const c::Variable& named = variable(given.variable);
    if (named.storage == Storage::local)
        throw Refusal(where, "members of a struct that is made here are not followed");
    const c::Type& of = type(type_id);
    Place made;
    made.variable = given.variable;
    if (of.kind == c::Type::Kind::number) {
        const c::Type& root = type(named.type);
        Scalar wanted;
        wanted.name = member_name(named, given.members);
        wanted.access = access_text(unit_, given.variable, given.members);
        wanted.number = of.number;
        wanted.variable = given.variable;
        wanted.members = given.members;
        wanted.is_hidden = given.is_hidden;
        wanted.in_memory = root.kind == c::Type::Kind::pointer || named.storage == Storage::global ||
                           std::ranges::any_of(given.members, leads_on);
        wanted.where = where;
        made.kind = Place::Kind::constant;
        made.index = -1 - scalar(wanted).term;
        return made;
    }
    if (of.kind == c::Type::Kind::other) throw Refusal(where, "a struct is used as a whole here");
    made.kind = Place::Kind::element;
    made.pointer.object = object(given.variable, given.members, type_id, where);
    if (given.is_hidden) model_.objects[static_cast<std::size_t>(made.pointer.object)].is_hidden = true;
    made.pointer.type = type_id;
    if (of.kind == c::Type::Kind::pointer) made.pointer.level = -1;  // load() follows the pointer
    return made;
}

Value Executor::load_record(const Place& from, SourceRange where) {
    const Value held = held_by(from, where);
    const bool leads = held.kind == Value::Kind::record && is_pointer(from) && held.record->own.empty() &&
                       !held.record->members.empty() && !leads_on(held.record->members.back());
    if (!leads) return held;
    Record pointed = *held.record;
    pointed.members.back() += "->";
    return Value::of(pointed);
}

// Whether a place is a member that points to an object.
bool Executor::is_pointer(const Place& at) const {
    return at.pointer.type >= 0 && !at.members.empty() && !at.members.back().ends_with("::") &&
           type(at.pointer.type).kind == c::Type::Kind::pointer;
}

void Executor::assign_member(const Place& to, Value given, SourceRange where) {
    if (to.record || to.variable < 0) throw Refusal(where, "what is assigned here belongs to no variable");
    const c::Variable& named = variable(to.variable);
    const auto found = state_.variables.find(to.variable);
    const bool is_set = found != state_.variables.end();
    const bool is_own =
        type(named.type).is_class && !named.is_static && (named.storage == Storage::local || is_set);
    const bool is_made = named.is_object && is_set;  // by its constructor
    if ((!is_own && !is_made) || std::ranges::any_of(to.members, leads_on)) throw Refusal(where, kOfStruct);
    if (given.kind == Value::Kind::nothing && given.reason.empty()) given.reason = "this is no number";
    if (to.members.empty()) {
        state_.variables[to.variable] = std::move(given);
        return;
    }
    if (is_set && found->second.kind != Value::Kind::record)
        throw Refusal(where, found->second.reason.empty() ? kNotFollowed : found->second.reason);
    const Record before = is_set ? *found->second.record : Record{};
    if (has(Mutation::keep_member) && before.own.count(to.members.front())) return;
    state_.variables[to.variable] = Value::of(with_member(before, to.members, 0, std::move(given)));
}

// Of an array its elements, each by itself.
void Executor::set_member(Record& of, const std::string& name, int id) {
    const c::Type& array = type(expr(id).type);
    if (expr(id).kind != ExprKind::list || array.kind != c::Type::Kind::array) {
        of = with_member(of, {name}, 0, value(id));
        return;
    }
    std::vector<Value> elements;
    flatten(id, expr(id).type, elements, expr(id).where);
    const bool is_row = type(array.element).kind == c::Type::Kind::number;
    for (std::size_t k = 0; is_row && k < elements.size(); ++k)
        of.own[name + "[" + std::to_string(k) + "]"] = elements[k];
}

// An object of the members that a list names, or what a constructor makes.
Value Executor::make(const c::Expr& from) {
    if (from.function >= 0) return call_known(from, from.function, from.operands);
    Record made;
    for (std::size_t i = 0; i < from.names.size(); ++i) {
        const std::size_t which = has(Mutation::swap_members) ? from.names.size() - 1 - i : i;
        set_member(made, from.names[which], from.operands[i]);
    }
    return Value::of(made);
}

Value Executor::merged_records(int condition, const Record& then, const Record& otherwise,
                               SourceRange where) {
    if (then.variable != otherwise.variable || then.members != otherwise.members)
        return Value::none("which object this is depends on a condition");
    Record made = then;
    for (const auto& [name, held] : otherwise.own) {
        const auto other = then.own.find(name);
        made.own[name] = other == then.own.end()
                             ? Value::none("this has a value in one branch of a condition alone")
                             : merged(condition, other->second, held, where);
    }
    for (auto& [name, held] : made.own) {
        if (!otherwise.own.count(name))
            held = Value::none("this has a value in one branch of a condition alone");
    }
    return Value::of(made);
}

}  // namespace halo::lift
