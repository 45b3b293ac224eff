#include "compiler/lift/order.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/lift/call_effects.h"

namespace halo::lift {

namespace {

using ExprKind = c::Expr::Kind;

// What a part of an expression reads and changes.
struct Effect {
    std::set<int> reads, changes;  // variables
    bool reads_memory = false, changes_memory = false;
    bool changes_own = false;  // arrays in the object that a member function is called for

    void add(const Effect& other) {
        reads.insert(other.reads.begin(), other.reads.end());
        changes.insert(other.changes.begin(), other.changes.end());
        reads_memory = reads_memory || other.reads_memory;
        changes_memory = changes_memory || other.changes_memory;
        changes_own = changes_own || other.changes_own;
    }
    bool disturbs(const Effect& other) const {
        const bool is_written = other.changes_memory || other.changes_own;
        if ((changes_memory || changes_own) && (other.reads_memory || is_written)) return true;
        return std::any_of(changes.begin(), changes.end(),
                           [&](int id) { return other.reads.count(id) || other.changes.count(id); });
    }
};

class OrderFinder {
public:
    explicit OrderFinder(c::Unit& unit) : unit_(unit), calls_(unit) {}

    void refuse() {
        for (std::size_t i = 0; i < unit_.exprs.size(); ++i)
            effect(static_cast<int>(i));
        for (const int id : open_) {
            c::Expr& each = unit_.exprs[static_cast<std::size_t>(id)];
            each.kind = ExprKind::unknown;
            each.text = "one part of this changes what another part uses, and which comes first is not said";
        }
    }

private:
    const c::Expr& expr(int id) const { return unit_.exprs[static_cast<std::size_t>(id)]; }

    // The effect of all parts together.
    const Effect& effect(int id) {
        if (const auto found = known_.find(id); found != known_.end()) return found->second;
        Effect made = find(expr(id), id);
        return known_.emplace(id, std::move(made)).first->second;
    }

    Effect find(const c::Expr& from, int id) {
        Effect all;
        for (const int operand : from.operands)
            all.add(effect(operand));
        switch (from.kind) {
            case ExprKind::variable:
                all.reads.insert(from.variable);
                return all;
            case ExprKind::subscript:
                // A row of an array of arrays is a place; a row that is reached by a pointer is read.
                all.reads_memory =
                    all.reads_memory || from.type < 0 || type(from.type).kind != c::Type::Kind::array;
                break;
            case ExprKind::dereference:
            case ExprKind::member:
                all.reads_memory = true;
                break;
            case ExprKind::assign:
            case ExprKind::step:
                change(from.operands[0], all);
                break;
            case ExprKind::call:
            case ExprKind::invoke:
            case ExprKind::make:
                call(from, all);
                break;
            case ExprKind::conditional:
            case ExprKind::comma:
                return all;  // these have an order
            default:
                break;
        }
        const bool has_order = from.kind == ExprKind::binary && (from.text == "&&" || from.text == "||");
        if (!has_order && is_open(from)) open_.insert(id);
        return all;
    }

    bool is_open(const c::Expr& from) {
        for (std::size_t a = 0; a < from.operands.size(); ++a) {
            for (std::size_t b = 0; b < from.operands.size(); ++b) {
                if (a == b) continue;
                Effect other = effect(from.operands[b]);
                // What is assigned to is read by `+=` and its like alone.
                const bool is_target = from.kind == ExprKind::assign && b == 0 && from.text == "=";
                if (is_target) other = target(from.operands[b]);
                if (effect(from.operands[a]).disturbs(other)) return true;
            }
        }
        return false;
    }
    // Of the place that an assignment names: what says where it is. What is stored there is known by then.
    Effect target(int id) {
        Effect named;
        const c::Expr& from = expr(id);
        for (const int operand : from.operands)
            named.add(effect(operand));
        if (from.kind == ExprKind::variable) named.changes.insert(from.variable);
        return named;
    }
    void change(int id, Effect& made) const {
        const c::Expr* from = &expr(id);
        const bool is_whole = from->kind == ExprKind::variable;
        bool is_element = false;
        for (const c::Expr* array = from; array != nullptr; array = array_of(*from)) {
            is_element = is_element || array != from;
            from = array;
            while (from->kind == ExprKind::member)
                from = &expr(from->operands[0]);
        }
        if (is_element) {
            const bool is_own = from->kind == ExprKind::variable &&
                                unit_.variables[static_cast<std::size_t>(from->variable)].is_object;
            (is_own ? made.changes_own : made.changes_memory) = true;
            return;
        }
        // An object is a variable, and its members are in it.
        const bool is_variable = from->kind == ExprKind::variable &&
                                 (is_whole || type_of(from->variable).is_class ||
                                  unit_.variables[static_cast<std::size_t>(from->variable)].is_object);
        if (is_variable)
            made.changes.insert(from->variable);
        else
            made.changes_memory = true;
    }

    // That the expression names an element of, not by a pointer; null: there is none.
    const c::Expr* array_of(const c::Expr& from) const {
        if (from.kind != ExprKind::subscript) return nullptr;
        const c::Expr& base = expr(from.operands[0]);
        const c::Expr& array = base.kind == ExprKind::convert ? expr(base.operands[0]) : base;
        return array.type >= 0 && type(array.type).kind == c::Type::Kind::array ? &array : nullptr;
    }

    // A function may change what it is given by reference, what it has captured, globals and memory.
    void call(const c::Expr& from, Effect& made) {
        for (std::size_t i = 0; i < from.operands.size(); ++i) {
            const c::Expr& given = expr(from.operands[i]);
            const bool is_place = given.kind == ExprKind::variable || given.kind == ExprKind::subscript ||
                                  given.kind == ExprKind::dereference || given.kind == ExprKind::member ||
                                  returns_reference(given);
            if (is_place && calls_.may_change(from, i)) change(from.operands[i], made);
        }
        if (from.function < 0) return;  // of the library, or refused where it is called
        if (!walking_.insert(from.function).second) return;
        const c::Function& called = unit_.functions[static_cast<std::size_t>(from.function)];
        std::set<int> own(called.parameters.begin(), called.parameters.end());
        Effect inside;
        walk(called.body, inside, own);
        walking_.erase(from.function);
        for (const int each : own) {
            const bool is_object = unit_.variables[static_cast<std::size_t>(each)].is_object;
            const bool refers = type_of(each).is_reference || (is_object && from.kind != ExprKind::make);
            if (refers && inside.changes.count(each)) inside.changes_memory = true;
            if (refers && inside.reads.count(each)) inside.reads_memory = true;
            inside.reads.erase(each);
            inside.changes.erase(each);
        }
        // Nothing else can see what a constructor makes.
        if (from.kind != ExprKind::make) inside.changes_memory = inside.changes_memory || inside.changes_own;
        inside.changes_own = false;
        made.add(inside);
    }
    bool returns_reference(const c::Expr& from) const {
        return from.kind == ExprKind::call && from.function >= 0 &&
               type(unit_.functions[static_cast<std::size_t>(from.function)].result).is_reference;
    }
    void walk(int id, Effect& made, std::set<int>& own) {
        if (id < 0) return;
        const c::Statement& each = unit_.statements[static_cast<std::size_t>(id)];
        for (const int declared : each.variables) {
            own.insert(declared);
            const int init = unit_.variables[static_cast<std::size_t>(declared)].init;
            if (init >= 0) made.add(effect(init));
        }
        if (each.expr >= 0) made.add(effect(each.expr));
        if (each.kind == c::Statement::Kind::for_loop && each.step >= 0) made.add(effect(each.step));
        for (const int inner : each.statements)
            walk(inner, made, own);
    }
    const c::Type& type(int id) const { return unit_.types[static_cast<std::size_t>(id)]; }
    const c::Type& type_of(int id) const { return type(unit_.variables[static_cast<std::size_t>(id)].type); }

    c::Unit& unit_;
    CallEffects calls_;
    std::map<int, Effect> known_;
    std::set<int> open_, walking_;
};

}  // namespace

void refuse_open_order(c::Unit& unit) {
    OrderFinder(unit).refuse();
}

}  // namespace halo::lift
