// Which pointers of a function point to memory of their own; for outline.cpp.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "compiler/lift/outline_flow.h"

namespace halo::lift {

bool is_allocation(const std::string& function);

class Memory {
public:
    Memory(const c::Unit& unit, const Flow& flow, int nest);
    // When the nest is entered: it points to what an allocation gave, as no other variable does; or it is an
    // array of the function's.
    bool is_own(int variable) const { return own_.count(variable) > 0; }
    // It still points to what was there when the function was called.
    bool is_outer(int variable) const;
    // Both may point into one array when the nest is entered, or in it: one has been set to what the other
    // was, or both to what a third was. Rotating pointers do not, where they began with different arrays.
    bool may_share(int a, int b) const;

private:
    // Finds pointers that rotate among a few variables, by `held = a; a = b; b = held;` or std::swap.
    void find_rotations(const c::Statement& block);
    void end_rotation(std::vector<int>& run);
    std::vector<std::pair<int, int>> copies_of(int statement) const;  // target, source; none: no copy
    bool is_used_beyond(int variable, const std::vector<int>& run) const;
    void find_own();

    std::set<int> sources(int variable, bool with_rotations) const;
    void add_pointers(int expr, std::set<int>& into) const;
    bool allocates(int expr) const;
    const c::Expr& bare(int expr) const;  // without conversions
    const c::Expr& expr(int id) const { return unit_.exprs[static_cast<std::size_t>(id)]; }
    const c::Statement& statement(int id) const { return unit_.statements[static_cast<std::size_t>(id)]; }
    const c::Variable& variable(int id) const { return unit_.variables[static_cast<std::size_t>(id)]; }
    const c::Type& type_of(int id) const { return unit_.types[static_cast<std::size_t>(variable(id).type)]; }

    const c::Unit& unit_;
    const Flow& flow_;
    int nest_;
    std::set<int> rotating_;                 // statements that rotate pointers
    std::map<int, std::set<int>> partners_;  // variables that rotate with each other
    std::set<int> own_;
};

}  // namespace halo::lift
