// In which order a function reads and changes its variables; for outline.cpp.
//
// Statements, and the changes in them, are numbered as they stand in the text. What may come before what then
// follows from the numbers and the loops; where the text has `goto`, or an unknown statement, anything may
// come before anything.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/lift/c_code.h"
#include "compiler/lift/call_effects.h"

namespace halo::lift {

class Flow {
public:
    struct Change {
        int at = 0;
        int variable = -1;
        int value = -1;      // expression that it is set to; -1: anything
        int statement = -1;  // that it stands in
    };

    Flow(const c::Unit& unit, int function);

    const std::vector<Change>& changes() const { return changes_; }
    bool is_escaped(int variable) const { return escaped_.count(variable) > 0; }  // changed from anywhere
    bool is_inside(int statement, int outer) const;
    int parent(int statement) const;  // -1 of the outermost
    int begin(int statement) const { return ranges_.at(statement).first; }

    // Whether what was set at `from` may have been changed when the nest is entered.
    bool changes_between(int variable, int from, int nest) const;
    // Whether this may be done before the nest is entered.
    bool comes_before(const Change& change, int nest) const;
    // Whether the variable's value after the nest may be read there.
    bool is_live_after(int variable, int nest) const;
    // Variables that are changed within a statement.
    std::set<int> changed_in(int statement) const;

private:
    enum class Use : unsigned char { none, read, write };
    struct Exits {  // whether the variable is read after leaving so
        bool next = false, stop = false, skip = false;
    };

    void walk(int statement, int parent);
    void walk_expr(int expr, int statement);
    void walk_closure(const c::Expr& closure, int statement);
    void change(int variable, int value, int statement);
    void read(int variable);
    std::optional<std::pair<int, int>> repeated(int nest, int from) const;

    Use use(int expr, int variable) const;
    bool mentions(int statement, int variable) const;
    bool mentions_in(int expr, int variable) const;
    bool live(int statement, int variable, int nest, const Exits& exits, bool& lives_on) const;
    bool live_loop(const c::Statement& loop, int variable, int nest, const Exits& exits,
                   bool& lives_on) const;
    bool is_plain_switch(const c::Statement& statement) const;
    bool live_switch(const c::Statement& statement, int variable, int nest, const Exits& exits,
                     bool& lives_on) const;

    const c::Expr& expr(int id) const { return unit_.exprs[static_cast<std::size_t>(id)]; }
    const c::Statement& statement(int id) const { return unit_.statements[static_cast<std::size_t>(id)]; }
    const c::Variable& variable(int id) const { return unit_.variables[static_cast<std::size_t>(id)]; }
    const c::Type& type(int id) const { return unit_.types[static_cast<std::size_t>(id)]; }

    const c::Unit& unit_;
    CallEffects calls_;
    int body_;
    int next_ = 0;
    bool is_unclear_ = false;  // anything may come before anything
    bool may_change_ = false;  // and anything may be changed
    bool in_closure_ = false;
    std::vector<Change> changes_;
    std::map<int, std::pair<int, int>> ranges_;  // of statements: numbers from, to
    std::map<int, int> repeats_from_;            // of loops: where what they repeat begins
    std::map<int, int> parents_;
    std::set<int> escaped_, held_;  // held: a closure reads it, whenever it is called
};

}  // namespace halo::lift
