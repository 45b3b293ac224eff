#include "compiler/lift/c_code.h"

#include <algorithm>
#include <set>

namespace halo::lift::c {

namespace {

class LoopSearch {
public:
    explicit LoopSearch(const Unit& unit) : unit_(unit) {}

    bool in_function(int function) {
        if (function < 0 || !seen_.insert(function).second) return false;
        return in_statement(unit_.functions[static_cast<std::size_t>(function)].body);
    }

private:
    bool in_statement(int id) {
        if (id < 0) return false;
        const Statement& each = unit_.statements[static_cast<std::size_t>(id)];
        return each.is_loop || in_expr(each.expr) ||
               std::ranges::any_of(each.statements, [this](int inner) { return in_statement(inner); });
    }
    bool in_expr(int id) {
        if (id < 0) return false;
        const Expr& from = unit_.exprs[static_cast<std::size_t>(id)];
        return (from.kind == Expr::Kind::call && in_function(from.function)) ||
               std::ranges::any_of(from.operands, [this](int operand) { return in_expr(operand); });
    }

    const Unit& unit_;
    std::set<int> seen_;  // functions
};

}  // namespace

bool ends_program(const Unit& unit, int id) {
    if (id < 0) return false;
    const Statement& each = unit.statements[static_cast<std::size_t>(id)];
    if (each.kind == Statement::Kind::expression)
        return unit.exprs[static_cast<std::size_t>(each.expr)].is_end;
    return each.kind == Statement::Kind::block && !each.statements.empty() &&
           ends_program(unit, each.statements.back());
}

bool is_call_of_loops(const Unit& unit, const Statement& statement) {
    if (statement.kind != Statement::Kind::expression) return false;
    const Expr& from = unit.exprs[static_cast<std::size_t>(statement.expr)];
    if (from.kind != Expr::Kind::call || from.function < 0) return false;
    const Function& called = unit.functions[static_cast<std::size_t>(from.function)];
    const auto may_be_called = [&](int operand) {
        const Expr& given = unit.exprs[static_cast<std::size_t>(operand)];
        return given.kind == Expr::Kind::closure || unit.types[static_cast<std::size_t>(given.type)].is_class;
    };
    return !called.is_plain && !called.full_name.starts_with("std::") &&
           std::ranges::any_of(from.operands, may_be_called) && LoopSearch(unit).in_function(from.function);
}

}  // namespace halo::lift::c
