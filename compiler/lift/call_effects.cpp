#include "compiler/lift/call_effects.h"

namespace halo::lift {

namespace {
using CallKind = c::Expr::Kind;

bool is_call(const c::Expr& from) {
    return from.kind == CallKind::call || from.kind == CallKind::invoke || from.kind == CallKind::make ||
           from.kind == CallKind::unknown || from.kind == CallKind::list;
}
}  // namespace

std::set<int> CallEffects::roots(int id) {
    const c::Expr& from = expr(id);
    std::set<int> found;
    switch (from.kind) {
        case CallKind::variable:
            return {from.variable};
        case CallKind::member:
            return roots(from.operands[0]);
        case CallKind::dereference:  // of an object
            if (type(from.type).is_class) return roots(from.operands[0]);
            return {};
        case CallKind::convert:
            if (type(from.type).kind != c::Type::Kind::pointer) return roots(from.operands[0]);
            return {};
        case CallKind::conditional:
            found = roots(from.operands[1]);
            found.merge(roots(from.operands[2]));
            return found;
        case CallKind::call:
        case CallKind::invoke:
            for (std::size_t i = 0; i < from.operands.size(); ++i) {
                if (effect_of(from, i).returns) found.merge(roots(from.operands[i]));
            }
            return found;
        default:
            return {};
    }
}

bool CallEffects::may_change(const c::Expr& call, std::size_t operand) {
    return effect_of(call, operand).changes;
}
bool CallEffects::may_keep(const c::Expr& call, std::size_t operand) {
    return effect_of(call, operand).keeps;
}

CallEffects::Effect CallEffects::effect_of(const c::Expr& call, std::size_t operand) {
    if (expr(call.operands[operand]).is_loaded) return {};
    // The first operand of a call of a closure is the closure, and the first parameter of a constructor is
    // what it makes.
    if (call.kind == CallKind::invoke && operand == 0) return {};
    const std::size_t parameter = call.kind == CallKind::invoke ? operand - 1
                                  : call.kind == CallKind::make ? operand + 1
                                                                : operand;
    const bool is_known =
        call.function >= 0 && unit_.functions[static_cast<std::size_t>(call.function)].body >= 0 &&
        parameter < unit_.functions[static_cast<std::size_t>(call.function)].parameters.size();
    if (!is_known) return {true, false, false};
    return effect(call.function, parameter);
}

const CallEffects::Effect& CallEffects::effect(int function, std::size_t number) {
    const auto key = std::pair(function, number);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    const c::Function& called = unit_.functions[static_cast<std::size_t>(function)];
    const int parameter = called.parameters[number];
    const c::Type& of = type(variable(parameter).type);
    known_[key] = {true, true, true};  // of one that calls itself
    Effect found;
    if (of.is_reference || variable(parameter).is_object)
        in_statement(called.body, parameter, type(called.result).is_reference, found);
    return known_[key] = found;
}

void CallEffects::in_statement(int id, int parameter, bool refers, Effect& found) {
    if (id < 0) return;
    const c::Statement& each = unit_.statements[static_cast<std::size_t>(id)];
    for (const int declared : each.variables) {
        const c::Variable& named = variable(declared);
        if (named.init < 0) continue;
        in_expr(named.init, parameter, found);
        const bool is_name = type(named.type).is_reference && names(named.init, parameter);
        if (is_name && !named.is_const) found.changes = found.keeps = true;
        if (is_name) found.returns = true;
    }
    if (each.expr >= 0) in_expr(each.expr, parameter, found);
    if (each.kind == c::Statement::Kind::for_loop && each.step >= 0) in_expr(each.step, parameter, found);
    const bool leaves = each.kind == c::Statement::Kind::return_statement && each.expr >= 0;
    if (leaves && refers && names(each.expr, parameter)) found.returns = true;
    for (const int inner : each.statements)
        in_statement(inner, parameter, refers, found);
}

void CallEffects::in_expr(int id, int parameter, Effect& found) {
    const c::Expr& from = expr(id);
    const bool sets = from.kind == CallKind::assign || from.kind == CallKind::step;
    if (sets && names(from.operands[0], parameter)) found.changes = true;
    if (from.kind == CallKind::address && names(from.operands[0], parameter))
        found.changes = found.keeps = true;
    if (from.is_opaque) found.changes = true;
    if (is_call(from)) {
        for (std::size_t i = 0; i < from.operands.size(); ++i) {
            const Effect inner = effect_of(from, i);
            if ((!inner.changes && !inner.keeps) || !names(from.operands[i], parameter)) continue;
            found.changes = found.changes || inner.changes;
            found.keeps = found.keeps || inner.keeps;
        }
    }
    for (const int operand : from.operands)
        in_expr(operand, parameter, found);
    if (from.kind == CallKind::closure)
        in_statement(unit_.functions[static_cast<std::size_t>(from.function)].body, parameter, false, found);
}

}  // namespace halo::lift
