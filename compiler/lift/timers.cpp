#include "compiler/lift/timers.h"

#include <set>
#include <vector>

namespace halo::lift {

namespace {

using ExprKind = c::Expr::Kind;
using StatementKind = c::Statement::Kind;

class TimerFinder {
public:
    explicit TimerFinder(const c::Unit& unit) : unit_(unit), parents_(unit.exprs.size()) {
        for (std::size_t i = 0; i < unit.exprs.size(); ++i) {
            for (const int operand : unit.exprs[i].operands)
                if (operand >= 0) parents_[static_cast<std::size_t>(operand)].push_back(static_cast<int>(i));
        }
        for (const c::Statement& each : unit.statements) {
            if (each.kind == StatementKind::expression && each.expr >= 0) discarded_.insert(each.expr);
        }
        for (std::size_t i = 0; i < unit.variables.size(); ++i) {
            if (unit.variables[i].init >= 0) declared_[unit.variables[i].init] = static_cast<int>(i);
        }
    }

    std::map<std::string, c::Number> find() {
        std::map<std::string, c::Number> found;
        std::set<std::string> others;
        for (const c::Expr& each : unit_.exprs) {
            if (each.kind != ExprKind::call || each.function >= 0) continue;
            const bool is_clock =
                each.operands.empty() && each.type >= 0 && type(each.type).kind == c::Type::Kind::number;
            if (is_clock)
                found[each.text] = type(each.type).number;
            else
                others.insert(each.text);
        }
        for (auto each = found.begin(); each != found.end();)
            each = others.contains(each->first) || !stays_apart(each->first) ? found.erase(each) : ++each;
        return found;
    }

private:
    const c::Expr& expr(int id) const { return unit_.exprs[static_cast<std::size_t>(id)]; }
    const c::Type& type(int id) const { return unit_.types[static_cast<std::size_t>(id)]; }
    const c::Variable& variable(int id) const { return unit_.variables[static_cast<std::size_t>(id)]; }

    // Whether what the clock tells is found in variables and members of structs alone, which are used for
    // nothing else.
    bool stays_apart(const std::string& clock) {
        variables_.clear();
        members_.clear();
        for (std::size_t before = 1, count = 0; before != count;) {
            before = variables_.size() + members_.size();
            for (std::size_t i = 0; i < unit_.exprs.size(); ++i) {
                if (has_time(unit_.exprs[i], clock) && !ends_apart(static_cast<int>(i))) return false;
            }
            count = variables_.size() + members_.size();
        }
        return true;
    }
    bool has_time(const c::Expr& each, const std::string& clock) const {
        return (each.kind == ExprKind::call && each.text == clock) ||
               (each.kind == ExprKind::variable && variables_.contains(each.variable)) ||
               (each.kind == ExprKind::member && members_.contains(each.text));
    }
    bool ends_apart(int id) {
        const std::vector<int>& parents = parents_[static_cast<std::size_t>(id)];
        if (parents.empty()) {
            if (const auto of = declared_.find(id); of != declared_.end()) return hold(of->second);
            return discarded_.contains(id);
        }
        for (const int parent : parents) {
            const c::Expr& around = expr(parent);
            const bool is_sum =
                around.kind == ExprKind::convert || around.kind == ExprKind::unary ||
                (around.kind == ExprKind::binary &&
                 (around.text == "+" || around.text == "-" || around.text == "*" || around.text == "/"));
            const bool is_stored = around.kind == ExprKind::assign && discarded_.contains(parent) &&
                                   (around.operands[0] == id || hold_in(around.operands[0]));
            const bool is_number = around.type >= 0 && type(around.type).kind == c::Type::Kind::number;
            if (!is_stored && !(is_sum && is_number && around.text != "!" && ends_apart(parent)))
                return false;
        }
        return true;
    }
    bool hold(int id) {
        const c::Variable& named = variable(id);
        if (named.storage != c::Variable::Storage::local || named.is_static ||
            type(named.type).kind != c::Type::Kind::number)
            return false;
        variables_.insert(id);
        return true;
    }
    bool hold_in(int target) {
        const c::Expr& to = expr(target);
        if (to.kind == ExprKind::variable) return hold(to.variable);
        if (to.kind != ExprKind::member || to.type < 0 || type(to.type).kind != c::Type::Kind::number)
            return false;
        members_.insert(to.text);
        return true;
    }

    const c::Unit& unit_;
    std::vector<std::vector<int>> parents_;
    std::set<int> discarded_;      // expressions whose values nothing uses
    std::map<int, int> declared_;  // those that variables begin with
    std::set<int> variables_;      // that hold what the clock has told
    std::set<std::string> members_;
};

}  // namespace

std::map<std::string, c::Number> find_timers(const c::Unit& unit) {
    return TimerFinder(unit).find();
}

}  // namespace halo::lift
