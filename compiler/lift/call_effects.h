// What calls may do with variables that they are given by reference, or as their object.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "compiler/lift/c_code.h"

namespace halo::lift {

class CallEffects {
public:
    explicit CallEffects(const c::Unit& unit) : unit_(unit) {}

    // The variables that an expression may name, wholly or a member of: what a call returns a reference to is
    // one of those that it is given.
    std::set<int> roots(int expr);
    // Whether a call may change the variable that this operand names.
    bool may_change(const c::Expr& call, std::size_t operand);
    // Whether it may keep its address beyond the call.
    bool may_keep(const c::Expr& call, std::size_t operand);

private:
    struct Effect {
        bool changes = false, keeps = false, returns = false;
    };
    const Effect& effect(int function, std::size_t parameter);
    Effect effect_of(const c::Expr& call, std::size_t operand);
    void in_statement(int statement, int parameter, bool refers, Effect& found);
    void in_expr(int expr, int parameter, Effect& found);
    bool names(int expr, int parameter) { return roots(expr).count(parameter) > 0; }

    const c::Expr& expr(int id) const { return unit_.exprs[static_cast<std::size_t>(id)]; }
    const c::Type& type(int id) const { return unit_.types[static_cast<std::size_t>(id)]; }
    const c::Variable& variable(int id) const { return unit_.variables[static_cast<std::size_t>(id)]; }

    const c::Unit& unit_;
    std::map<std::pair<int, std::size_t>, Effect> known_;
};

}  // namespace halo::lift
