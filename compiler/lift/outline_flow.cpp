#include "compiler/lift/outline_flow.h"

#include <algorithm>
#include <utility>

namespace halo::lift {

namespace {
using StatementKind = c::Statement::Kind;
using ExprKind = c::Expr::Kind;
}  // namespace

Flow::Flow(const c::Unit& unit, int function)
    : unit_(unit), calls_(unit), body_(unit.functions[static_cast<std::size_t>(function)].body) {
    walk(body_, -1);
}

// ---- numbers

void Flow::walk(int id, int parent) {
    if (id < 0) return;
    const c::Statement& each = statement(id);
    parents_[id] = parent;
    const int begin = next_++;
    if (each.kind == StatementKind::goto_statement || each.is_opaque) is_unclear_ = true;
    may_change_ = may_change_ || each.is_opaque;
    if (each.kind == StatementKind::declare) {
        for (const int declared : each.variables) {
            const c::Variable& named = variable(declared);
            if (named.init < 0) continue;
            walk_expr(named.init, id);
            const c::Type& of = type(named.type);
            if (of.is_reference) {
                escaped_.merge(calls_.roots(named.init));
            }
            change(declared, named.init, id);
        }
    }
    if (each.kind == StatementKind::for_loop) {
        walk(each.statements[0], id);
        repeats_from_[id] = next_++;
        walk_expr(each.expr, id);
        walk(each.statements[1], id);
        walk_expr(each.step, id);
    } else {
        walk_expr(each.expr, id);
        for (const int inner : each.statements)
            walk(inner, id);
    }
    ranges_[id] = {begin, next_++};
}

void Flow::change(int id, int value, int at) {
    if (in_closure_) {
        escaped_.insert(id);
        return;
    }
    changes_.push_back({next_++, id, value, at});
}

void Flow::read(int id) {
    if (in_closure_) held_.insert(id);
}

void Flow::walk_closure(const c::Expr& closure, int at) {
    const bool outer = std::exchange(in_closure_, true);
    const std::set<int> held = held_;
    const int body = unit_.functions[static_cast<std::size_t>(closure.function)].body;
    const auto visit = [&](const auto& self, int id) -> void {
        if (id < 0) return;
        const c::Statement& each = statement(id);
        for (const int declared : each.variables) {
            if (variable(declared).init >= 0) walk_expr(variable(declared).init, at);
        }
        walk_expr(each.expr, at);
        if (each.kind == StatementKind::for_loop) walk_expr(each.step, at);
        for (const int inner : each.statements)
            self(self, inner);
    };
    visit(visit, body);
    for (const int copied : closure.captured) {
        if (!held.count(copied)) held_.erase(copied);
    }
    in_closure_ = outer;
}

void Flow::walk_expr(int id, int at) {
    if (id < 0) return;
    const c::Expr& from = expr(id);
    if (from.is_opaque) is_unclear_ = may_change_ = true;
    switch (from.kind) {
        case ExprKind::variable:
            read(from.variable);
            return;
        case ExprKind::assign: {
            const bool is_whole = expr(from.operands[0]).kind == ExprKind::variable;
            if (!is_whole || from.text != "=") walk_expr(from.operands[0], at);
            walk_expr(from.operands[1], at);
            for (const int target : calls_.roots(from.operands[0]))
                change(target, is_whole && from.text == "=" ? from.operands[1] : -1, at);
            return;
        }
        case ExprKind::step:
            walk_expr(from.operands[0], at);
            for (const int target : calls_.roots(from.operands[0]))
                change(target, -1, at);
            return;
        case ExprKind::address:
            walk_expr(from.operands[0], at);
            escaped_.merge(calls_.roots(from.operands[0]));
            return;
        case ExprKind::call:
        case ExprKind::invoke:
        case ExprKind::make:
        case ExprKind::unknown:
        case ExprKind::list:
            // What is handed over by reference may be changed.
            for (std::size_t i = 0; i < from.operands.size(); ++i) {
                const int operand = from.operands[i];
                walk_expr(operand, at);
                if (calls_.may_keep(from, i)) escaped_.merge(calls_.roots(operand));
                if (!calls_.may_change(from, i)) continue;
                for (const int target : calls_.roots(operand))
                    change(target, -1, at);
            }
            return;
        case ExprKind::closure:
            walk_closure(from, at);
            return;
        default:
            for (const int operand : from.operands)
                walk_expr(operand, at);
    }
}

// ---- before and after

int Flow::parent(int id) const {
    const auto found = parents_.find(id);
    return found == parents_.end() ? -1 : found->second;
}

bool Flow::is_inside(int id, int outer) const {
    for (int at = id; at >= 0; at = parent(at)) {
        if (at == outer) return true;
    }
    return false;
}

// The numbers of the outermost loop around the nest that does not begin before `from`.
std::optional<std::pair<int, int>> Flow::repeated(int nest, int from) const {
    std::optional<std::pair<int, int>> found;
    for (int at = parent(nest); at >= 0; at = parent(at)) {
        const StatementKind kind = statement(at).kind;
        const bool repeats = kind == StatementKind::for_loop || kind == StatementKind::while_loop ||
                             kind == StatementKind::unknown;
        std::pair<int, int> range = ranges_.at(at);
        if (kind == StatementKind::for_loop)
            range.first = repeats_from_.at(at);  // where it starts is done once
        const bool has_it = range.first <= from && from < range.second;
        if (repeats && !has_it) found = range;
    }
    return found;
}

bool Flow::changes_between(int id, int from, int nest) const {
    if (may_change_ || is_escaped(id)) return true;
    if (is_unclear_)
        return std::ranges::any_of(changes_, [id](const Change& each) { return each.variable == id; });
    const auto loop = repeated(nest, from);
    return std::any_of(changes_.begin(), changes_.end(), [&](const Change& each) {
        if (each.variable != id || each.at == from) return false;
        const bool is_between = each.at > from && each.at < begin(nest);
        return is_between || (loop && each.at >= loop->first && each.at < loop->second);
    });
}

bool Flow::comes_before(const Change& each, int nest) const {
    if (is_unclear_ || each.at < begin(nest)) return true;
    const auto loop = repeated(nest, -1);
    return loop && each.at >= loop->first && each.at < loop->second;
}

std::set<int> Flow::changed_in(int id) const {
    std::set<int> found;
    for (const Change& each : changes_) {
        if (is_inside(each.statement, id)) found.insert(each.variable);
    }
    return found;
}

// ---- what is read after

bool Flow::mentions_in(int id, int wanted) const {
    if (id < 0) return false;
    const c::Expr& from = expr(id);
    return (from.kind == ExprKind::variable && from.variable == wanted) ||
           std::any_of(from.operands.begin(), from.operands.end(),
                       [&](int operand) { return mentions_in(operand, wanted); });
}

bool Flow::mentions(int id, int wanted) const {
    if (id < 0) return false;
    const c::Statement& each = statement(id);
    if (mentions_in(each.expr, wanted)) return true;
    if (each.kind == StatementKind::for_loop && mentions_in(each.step, wanted)) return true;
    for (const int declared : each.variables) {
        if (mentions_in(variable(declared).init, wanted)) return true;
    }
    return std::any_of(each.statements.begin(), each.statements.end(),
                       [&](int inner) { return mentions(inner, wanted); });
}

// Which comes first, where something surely comes.
Flow::Use Flow::use(int id, int wanted) const {
    if (id < 0) return Use::none;
    const c::Expr& from = expr(id);
    if (from.kind == ExprKind::variable) return from.variable == wanted ? Use::read : Use::none;
    if (from.kind == ExprKind::assign && from.text == "=" &&
        expr(from.operands[0]).kind == ExprKind::variable && expr(from.operands[0]).variable == wanted)
        return use(from.operands[1], wanted) == Use::read ? Use::read : Use::write;
    const bool may_skip = from.kind == ExprKind::conditional ||
                          (from.kind == ExprKind::binary && (from.text == "&&" || from.text == "||"));
    for (std::size_t i = 0; i < from.operands.size(); ++i) {
        const Use found = use(from.operands[i], wanted);
        if (found == Use::read || (found == Use::write && (i == 0 || !may_skip))) return found;
    }
    return Use::none;
}

bool Flow::live_loop(const c::Statement& each, int wanted, int nest, const Exits& exits,
                     bool& lives_on) const {
    const bool is_for = each.kind == StatementKind::for_loop;
    const int body = each.statements[is_for ? 1 : 0];
    const Use condition = use(each.expr, wanted);
    const Use step = is_for ? use(each.step, wanted) : Use::none;
    bool head = exits.next;  // before the condition
    for (int round = 0; round < 2; ++round) {
        const bool again = step == Use::read || (step == Use::none && head);
        const bool inside = live(body, wanted, nest, {again, exits.next, again}, lives_on);
        head = condition == Use::read || (condition == Use::none && (exits.next || inside));
    }
    if (!is_for && each.step == 1) return live(body, wanted, nest, {head, exits.next, head}, lives_on);
    if (is_for && each.statements[0] >= 0)
        return live(each.statements[0], wanted, nest, {head, false, false}, lives_on);
    return head;
}

// Whether it enters its body by labels that stand in the body itself, and not within other statements of it.
bool Flow::is_plain_switch(const c::Statement& each) const {
    if (!each.is_switch || each.statements.size() != 2) return false;
    const c::Statement& body = statement(each.statements[1]);
    const auto has_label = [&](const auto& self, int id) -> bool {
        if (id < 0 || statement(id).is_switch) return false;
        return statement(id).is_label ||
               std::ranges::any_of(statement(id).statements, [&](int inner) { return self(self, inner); });
    };
    return body.kind == StatementKind::block && std::ranges::all_of(body.statements, [&](int id) {
               while (id >= 0 && statement(id).is_label)
                   id = statement(id).statements.back();
               return !has_label(has_label, id);
           });
}

// From each label on, up to a `break`; or none of it.
bool Flow::live_switch(const c::Statement& each, int wanted, int nest, const Exits& exits,
                       bool& lives_on) const {
    Exits inner{exits.next, exits.next, exits.skip};
    bool entered = exits.next;
    const c::Statement& body = statement(each.statements[1]);
    for (auto at = body.statements.rbegin(); at != body.statements.rend(); ++at) {
        inner.next = live(*at, wanted, nest, inner, lives_on);
        if (statement(*at).is_label) entered = entered || inner.next;
    }
    return entered || mentions(each.statements[0], wanted);
}

// Whether the variable may be read from here on. lives_on: set where it may be read after the nest.
bool Flow::live(int id, int wanted, int nest, const Exits& exits, bool& lives_on) const {
    if (id < 0) return exits.next;
    if (id == nest && exits.next) lives_on = true;
    const c::Statement& each = statement(id);
    const auto after = [&](Use first, bool otherwise) {
        return first == Use::read || (first == Use::none && otherwise);
    };
    switch (each.kind) {
        case StatementKind::none:
            return exits.next;
        case StatementKind::expression:
            return after(use(each.expr, wanted), exits.next);
        case StatementKind::declare:
            for (const int declared : each.variables) {
                if (use(variable(declared).init, wanted) == Use::read) return true;
                if (declared == wanted) return false;
            }
            return exits.next;
        case StatementKind::block: {
            Exits inner = exits;
            for (auto at = each.statements.rbegin(); at != each.statements.rend(); ++at)
                inner.next = live(*at, wanted, nest, inner, lives_on);
            return inner.next;
        }
        case StatementKind::branch: {
            const bool then = live(each.statements[0], wanted, nest, exits, lives_on);
            const bool other = each.statements.size() > 1
                                   ? live(each.statements[1], wanted, nest, exits, lives_on)
                                   : exits.next;
            return after(use(each.expr, wanted), then || other);
        }
        case StatementKind::for_loop:
        case StatementKind::while_loop:
            return live_loop(each, wanted, nest, exits, lives_on);
        case StatementKind::return_statement:
            return use(each.expr, wanted) == Use::read;
        case StatementKind::continue_statement:
            return exits.skip;
        case StatementKind::break_statement:
            return exits.stop;
        case StatementKind::goto_statement:
            return true;
        case StatementKind::unknown: {
            if (each.is_label) return live(each.statements.back(), wanted, nest, exits, lives_on);
            if (is_plain_switch(each)) return live_switch(each, wanted, nest, exits, lives_on);
            // In any order, any number of times.
            const bool any = mentions(id, wanted) || exits.next || exits.skip || exits.stop;
            for (const int inner : each.statements)
                live(inner, wanted, nest, {any, any, any}, lives_on);
            return any;
        }
    }
    return true;
}

bool Flow::is_live_after(int id, int nest) const {
    const c::Variable& named = variable(id);
    if (is_unclear_ || is_escaped(id) || held_.count(id) || named.is_static || type(named.type).is_reference)
        return true;
    bool lives_on = false;
    live(body_, id, nest, {}, lives_on);
    return lives_on;
}

}  // namespace halo::lift
