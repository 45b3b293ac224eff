#include "compiler/lift/array_loops.h"

#include <algorithm>
#include <set>

namespace halo::lift {

namespace {

class Search {
public:
    explicit Search(const c::Unit& unit) : unit_(unit) {}

    bool in_statement(int id, bool in_loop) {
        if (id < 0) return false;
        const c::Statement& each = unit_.statements[static_cast<std::size_t>(id)];
        const bool is_inside = in_loop || each.is_loop || c::is_call_of_loops(unit_, each);
        const auto has = [&](int inner) { return in_statement(inner, is_inside); };
        if (std::any_of(each.statements.begin(), each.statements.end(), has)) return true;
        if (in_expr(each.expr, is_inside) || in_expr(each.step, is_inside)) return true;
        return std::any_of(each.variables.begin(), each.variables.end(), [&](int declared) {
            return in_expr(unit_.variables[static_cast<std::size_t>(declared)].init, is_inside);
        });
    }

private:
    bool in_expr(int id, bool in_loop) {
        if (id < 0) return false;
        const c::Expr& each = unit_.exprs[static_cast<std::size_t>(id)];
        using Kind = c::Expr::Kind;
        if (in_loop && (each.kind == Kind::subscript || each.kind == Kind::dereference)) return true;
        // Arrays of Fortran that are not understood have no subscripts here.
        if (in_loop && unit_.is_fortran && each.kind == Kind::unknown) return true;
        // A loop in a function that is called is that function's, unless the call is in a loop.
        const bool is_entered = each.function >= 0 && (in_loop || each.kind == Kind::closure);
        if (is_entered && entered_.insert({each.function, in_loop}).second) {
            const c::Function& called = unit_.functions[static_cast<std::size_t>(each.function)];
            if (in_statement(called.body, in_loop)) return true;
        }
        return std::any_of(each.operands.begin(), each.operands.end(),
                           [&](int operand) { return in_expr(operand, in_loop); });
    }

    const c::Unit& unit_;
    std::set<std::pair<int, bool>> entered_;
};

}  // namespace

bool has_array_loops(const c::Unit& unit) {
    const c::Function& function = unit.functions[static_cast<std::size_t>(unit.function)];
    return Search(unit).in_statement(function.body, function.is_kernel);
}

}  // namespace halo::lift
