#include "compiler/lift/outline_memory.h"

#include <algorithm>
#include <utility>

namespace halo::lift {

namespace {
using StatementKind = c::Statement::Kind;
using ExprKind = c::Expr::Kind;
using Storage = c::Variable::Storage;
}  // namespace

bool is_allocation(const std::string& function) {
    return function == "malloc" || function == "calloc" || function == "new[]" ||
           function == "aligned_alloc" || function == "std::malloc" || function == "std::calloc";
}

Memory::Memory(const c::Unit& unit, const Flow& flow, int nest) : unit_(unit), flow_(flow), nest_(nest) {
    for (const c::Statement& each : unit.statements) {
        if (each.kind == StatementKind::block) find_rotations(each);
    }
    find_own();
}

const c::Expr& Memory::bare(int id) const {
    const c::Expr* at = &expr(id);
    while (at->kind == ExprKind::convert)
        at = &expr(at->operands[0]);
    return *at;
}

bool Memory::allocates(int id) const {
    const c::Expr& from = bare(id);
    return from.kind == ExprKind::call && is_allocation(from.text);
}

std::vector<std::pair<int, int>> Memory::copies_of(int id) const {
    const c::Statement& each = statement(id);
    const auto copy = [&](int target, int value) -> std::vector<std::pair<int, int>> {
        const bool is_copy = value >= 0 && bare(value).kind == ExprKind::variable &&
                             type_of(target).kind == c::Type::Kind::pointer && !type_of(target).is_reference;
        if (!is_copy) return {};
        return {{target, bare(value).variable}};
    };
    if (each.kind == StatementKind::declare && each.variables.size() == 1)
        return copy(each.variables[0], variable(each.variables[0]).init);
    if (each.kind != StatementKind::expression) return {};
    const c::Expr& from = expr(each.expr);
    const auto names = [&](int operand) { return expr(operand).kind == ExprKind::variable; };
    if (from.kind == ExprKind::assign && from.text == "=" && names(from.operands[0]))
        return copy(expr(from.operands[0]).variable, from.operands[1]);
    const bool is_swap = from.kind == ExprKind::call && from.text == "std::swap" &&
                         from.operands.size() == 2 && names(from.operands[0]) && names(from.operands[1]);
    if (!is_swap) return {};
    const int a = expr(from.operands[0]).variable, b = expr(from.operands[1]).variable;
    return {{a, b}, {b, a}};
}

void Memory::find_rotations(const c::Statement& block) {
    std::vector<int> run;
    for (const int id : block.statements) {
        if (copies_of(id).empty())
            end_rotation(run);
        else
            run.push_back(id);
    }
    end_rotation(run);
}

// Whether anything but these statements names it.
bool Memory::is_used_beyond(int id, const std::vector<int>& run) const {
    std::size_t here = 0, all = 0;
    const auto count = [&](const auto& self, int each) -> std::size_t {
        if (each < 0) return 0;
        const c::Expr& from = expr(each);
        std::size_t found = from.kind == ExprKind::variable && from.variable == id ? 1 : 0;
        for (const int operand : from.operands)
            found += self(self, operand);
        return found;
    };
    for (const int each : run) {
        here += count(count, statement(each).expr);
        for (const int declared : statement(each).variables)
            here += count(count, variable(declared).init);
    }
    for (const c::Expr& each : unit_.exprs)
        all += each.kind == ExprKind::variable && each.variable == id ? 1 : 0;
    return all > here;
}

void Memory::end_rotation(std::vector<int>& run) {
    const std::vector<int> statements = std::exchange(run, {});
    std::map<int, int> holds;  // what each variable held before
    const auto held = [&](int id) { return holds.count(id) ? holds.at(id) : id; };
    for (const int each : statements) {
        std::vector<std::pair<int, int>> next;
        for (const auto& [target, source] : copies_of(each))
            next.emplace_back(target, held(source));
        for (const auto& [target, value] : next)
            holds[target] = value;
    }
    std::map<int, int> kept;
    std::set<int> values;
    for (const auto& [id, value] : holds) {
        if (is_used_beyond(id, statements)) {
            kept[id] = value;
            values.insert(value);
        }
    }
    const bool is_order =
        kept.size() > 1 && values.size() == kept.size() &&
        std::all_of(values.begin(), values.end(), [&](int id) { return kept.count(id) > 0; });
    if (!is_order) return;
    rotating_.insert(statements.begin(), statements.end());
    for (const auto& [id, value] : kept)
        partners_[id].insert(values.begin(), values.end());
}

void Memory::find_own() {
    std::set<int> others;
    for (std::size_t i = 0; i < unit_.variables.size(); ++i) {
        const int id = static_cast<int>(i);
        const c::Type& of = type_of(id);
        const bool is_array = of.kind == c::Type::Kind::array && variable(id).storage == Storage::local &&
                              !variable(id).is_static;  // a caller may have a pointer to that
        const bool is_vector =
            of.is_vector && variable(id).storage != Storage::global && !variable(id).is_static;
        if (is_array || is_vector) own_.insert(id);
        if (of.is_vector) continue;
        if (of.kind != c::Type::Kind::pointer || of.is_reference || variable(id).storage != Storage::local ||
            variable(id).is_static || flow_.is_escaped(id))
            continue;
        bool has_own = false, has_other = false;
        for (const Flow::Change& each : flow_.changes()) {
            if (each.variable != id || !flow_.comes_before(each, nest_) || rotating_.count(each.statement))
                continue;
            const bool is_nothing = each.value >= 0 && bare(each.value).kind == ExprKind::integer &&
                                    bare(each.value).integer == 0;
            if (each.value >= 0 && allocates(each.value))
                has_own = true;
            else if (!is_nothing)
                has_other = true;
        }
        if (has_own && !has_other) own_.insert(id);
    }
    // A rotating pointer has memory of its own where all that it rotates with have.
    for (bool again = true; again;) {
        again = false;
        for (const auto& [id, partners] : partners_) {
            const bool all =
                std::all_of(partners.begin(), partners.end(), [&](int each) { return is_own(each); });
            if (!all && own_.erase(id) > 0) again = true;
        }
    }
}

bool Memory::is_outer(int id) const {
    const c::Type& of = type_of(id);
    const bool refers = of.is_reference && unit_.types[static_cast<std::size_t>(of.element)].is_vector;
    if (refers && variable(id).storage == Storage::parameter) return true;
    if (variable(id).storage != Storage::parameter || type_of(id).is_reference || flow_.is_escaped(id))
        return false;
    return std::none_of(flow_.changes().begin(), flow_.changes().end(), [&](const Flow::Change& each) {
        return each.variable == id && flow_.comes_before(each, nest_);
    });
}

void Memory::add_pointers(int id, std::set<int>& into) const {
    const c::Expr& from = expr(id);
    if (from.kind == ExprKind::variable && type_of(from.variable).kind != c::Type::Kind::number)
        into.insert(from.variable);
    for (const int operand : from.operands)
        add_pointers(operand, into);
}

std::set<int> Memory::sources(int id, bool with_rotations) const {
    std::set<int> found{id};
    for (std::size_t before = 0; before != found.size();) {
        before = found.size();
        for (const Flow::Change& each : flow_.changes()) {
            const bool is_rotation = rotating_.count(each.statement) > 0;
            if (each.value >= 0 && found.count(each.variable) && (with_rotations || !is_rotation))
                add_pointers(each.value, found);
        }
    }
    return found;
}

bool Memory::may_share(int a, int b) const {
    const auto partners = partners_.find(a);
    const bool take_turns = partners != partners_.end() && partners->second.count(b) > 0;
    const std::set<int> first = sources(a, !take_turns), second = sources(b, !take_turns);
    // Pointers that are `restrict` say that they are apart, unless one is made of the other.
    const bool says_apart =
        type_of(a).is_restrict && type_of(b).is_restrict && first.count(b) == 0 && second.count(a) == 0;
    return !says_apart &&
           std::any_of(first.begin(), first.end(), [&](int id) { return second.count(id) > 0; });
}

}  // namespace halo::lift
