#include "compiler/lift/whole_members.h"

namespace halo::lift {

namespace {

using ExprKind = c::Expr::Kind;

// Where an expression leads to; null: not into the variable.
Members* follow(const c::Unit& unit, int variable, int id, Members& root) {
    const c::Expr& from = unit.exprs[static_cast<std::size_t>(id)];
    switch (from.kind) {
        case ExprKind::variable:
            return from.variable == variable ? &root : nullptr;
        case ExprKind::convert:
        case ExprKind::dereference:
            return follow(unit, variable, from.operands[0], root);
        case ExprKind::subscript: {
            Members* found = follow(unit, variable, from.operands[0], root);
            if (found != nullptr) found->is_indexed = true;
            return found;
        }
        case ExprKind::member: {
            Members* found = follow(unit, variable, from.operands[0], root);
            if (found == nullptr) return nullptr;
            Members& member = found->used[from.text];
            member.type = from.type;
            return &member;
        }
        default:
            return nullptr;
    }
}

}  // namespace

Members members_of(const c::Unit& unit, int variable) {
    Members root;
    root.type = unit.variables[static_cast<std::size_t>(variable)].type;
    for (std::size_t i = 0; i < unit.exprs.size(); ++i) {
        if (unit.exprs[i].kind == ExprKind::member || unit.exprs[i].kind == ExprKind::subscript)
            follow(unit, variable, static_cast<int>(i), root);
    }
    return root;
}

}  // namespace halo::lift
