// What one thread of a block computes, as another thread sees it: the same expression, with the index of its
// cell as that of the other's and their distance. And whether two threads compute the same of their cells.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "compiler/lift/execute_block.h"
#include "compiler/lift/executor.h"

namespace halo::lift {

namespace {

using c::Number;
using TermKind = Term::Kind;

bool is_order(const std::string& op) {
    return op == "<" || op == "<=" || op == ">" || op == ">=";
}
bool is_comparison(const std::string& op) {
    return is_order(op) || op == "==" || op == "!=";
}

}  // namespace

// ---- keeping

std::map<int, Bounds> Executor::with_symbols(const std::map<int, Bounds>& bounds) const {
    std::map<int, Bounds> made;
    for (const auto& [loop, held] : bounds)
        made[model_.loop(loop).symbol] = held;
    return made;
}

Read Executor::kept_read(Read read) const {
    for (PathEntry& entry : read.path)
        for (Edge& edge : entry.edges)
            edge.loop = model_.loop(edge.loop).symbol;
    read.bounds = with_symbols(read.bounds);
    return read;
}

// A copy that outlives the execution of this thread.
int Executor::keep(int id, std::map<int, int>& known) {
    if (const auto found = known.find(id); found != known.end()) return found->second;
    Term made = model_.term(id);
    for (int& operand : made.operands)
        operand = keep(operand, known);
    Model& kept = block_->kept;
    if (made.kind == TermKind::read) {
        kept.reads.push_back(kept_read(model_.read(made.index)));
        made.index = static_cast<int>(kept.reads.size()) - 1;
    }
    kept.terms.push_back(std::move(made));
    return known[id] = static_cast<int>(kept.terms.size()) - 1;
}

// ---- seen by another thread

// The index of the thread's cell becomes that of the other one's and their distance.
Polynomial Executor::moved(const Polynomial& poly, const ThreadPlace& by) const {
    Polynomial made = poly;
    for (const auto& [axis, loop] : threads_) {
        const std::int64_t apart = by[axis == "x" ? 0 : axis == "y" ? 1 : 2];
        const int symbol = model_.loop(loop).symbol;
        if (apart != 0) made = made.with(symbol, Polynomial::symbol(symbol) + apart);
    }
    return made;
}

// The loop that has this symbol for the thread that runs; -1: none.
int Executor::loop_with(int symbol) {
    for (std::size_t i = model_.loops.size(); i-- > 0;) {
        if (model_.loops[i].symbol == symbol) return static_cast<int>(i);
    }
    const std::string& name = model_.symbols[static_cast<std::size_t>(symbol)].name;
    return name.rfind("thread.", 0) == 0 ? thread_loop(name.substr(7)) : -1;
}

int Executor::copied_read(int kept, const ThreadPlace& by) {
    Read made = block_->kept.read(kept);
    const std::map<int, Bounds> bounds = std::move(made.bounds);
    made.loops = loops_around();
    made.bounds.clear();
    for (const int loop : made.loops) {
        Bounds& all = made.bounds[loop] = bounds_of(loop);
        const auto own = bounds.find(model_.loop(loop).symbol);
        if (own == bounds.end()) continue;
        const auto apart = moved(Polynomial::symbol(own->first), by) - Polynomial::symbol(own->first);
        for (const Polynomial& each : own->second.lower)
            all.lower.push_back(moved(each, by) - apart);
        for (const Polynomial& each : own->second.upper)
            all.upper.push_back(moved(each, by) - apart);
    }
    for (PathEntry& entry : made.path) {
        entry.index = moved(entry.index, by);
        std::erase_if(entry.edges, [&](Edge& edge) {
            const int symbol = edge.loop;
            edge.loop = loop_with(symbol);
            if (edge.loop < 0)
                throw Refusal(made.where, "this is read in a loop of another thread of the block");
            const auto apart = moved(Polynomial::symbol(symbol), by) - Polynomial::symbol(symbol);
            edge.bound = moved(edge.bound, by) - apart;
            edge.more = moved(edge.more, by);
            // A cell next to the bound, of which the index is that of the others, is one of these.
            const auto nothing_at = [&](const Polynomial& cell) {
                const auto factor = edge.more.coefficient(symbol);
                return factor && (*factor * cell + edge.more.without(symbol)).is_zero();
            };
            const Polynomial last = edge.is_low ? edge.bound - 1 : edge.bound;
            if (nothing_at(last)) edge.bound = edge.bound + (edge.is_low ? -1 : 1);
            const Bounds all = known_bounds(edge.loop);
            const auto is_inside = [&](const Polynomial& each) {
                return (edge.is_low ? each - edge.bound : edge.bound - each).constant().value_or(-1) >= 0;
            };
            return std::ranges::any_of(edge.is_low ? all.lower : all.upper, is_inside);
        });
    }
    model_.reads.push_back(std::move(made));
    return static_cast<int>(model_.reads.size()) - 1;
}

// A kept term for the thread that runs, whose place is that far from that of the one which computed it, with
// what is known here of the conditions in it.
int Executor::copied(int id, const ThreadPlace& by, std::map<int, int>& known) {
    if (const auto found = known.find(id); found != known.end()) return found->second;
    Term made = block_->kept.term(id);
    int result = -1;
    if (made.kind == TermKind::select) {
        result = chosen(made, [&](int operand, bool is_condition) {
            if (is_condition) return copied(operand, by, known);
            std::map<int, int> within = known;  // reads have bounds of their own under a condition
            return copied(operand, by, within);
        });
    } else {
        for (int& operand : made.operands)
            operand = copied(operand, by, known);
        made.poly = moved(made.poly, by);
        for (Polynomial& each : made.needs)
            each = moved(each, by);
        if (made.kind == TermKind::read) made.index = copied_read(made.index, by);
        result = folded(std::move(made));
    }
    return known[id] = result;
}

// A choice, of which the condition may be known here.
int Executor::chosen(Term select, const std::function<int(int, bool)>& operand) {
    const int condition = operand(select.operands[0], true);
    if (const auto holds = truth_here(condition)) return operand(select.operands[*holds ? 1 : 2], false);
    const std::vector<int> guards = state_.guards;
    const std::map<int, Bounds> bounds = state_.bounds;
    int sides[2];
    for (const bool holds : {true, false}) {
        add_guard(condition, holds, select.where);
        sides[holds ? 0 : 1] = operand(select.operands[holds ? 1 : 2], false);
        state_.guards = guards;
        state_.bounds = bounds;
    }
    select.operands = {condition, sides[0], sides[1]};
    std::map<int, int> known;
    if (same_as(sides[0], known) == same_as(sides[1], known)) return sides[0];
    return add(std::move(select));
}

// With what was in shared memory before, where the thread has not written to it.
int Executor::filled(int id, const std::function<int()>& before) {
    if (!has_unwritten(id)) return id;
    const Term from = model_.term(id);
    if (from.kind == TermKind::unwritten) return before();
    if (from.kind == TermKind::select)
        return chosen(from, [&](int operand, bool) { return filled(operand, before); });
    Term made = from;
    for (int& operand : made.operands)
        operand = filled(operand, before);
    return folded(std::move(made));
}

// Adds a term; of conditions that are known here, what they are.
int Executor::folded(Term made) {
    if (made.type != Number::boolean || made.operands.empty()) return add(std::move(made));
    const bool is_and = made.text == "and";
    if (made.kind == TermKind::binary && (is_and || made.text == "or")) {
        for (const std::size_t i : {0U, 1U}) {
            if (const auto holds = truth_here(made.operands[i]))
                return *holds == is_and ? made.operands[1 - i]
                                        : whole(is_and ? 0 : 1, Number::boolean, made.where);
        }
    }
    const SourceRange where = made.where;
    const int id = add(std::move(made));
    const auto holds = truth_here(id);
    return holds ? whole(*holds ? 1 : 0, Number::boolean, where) : id;
}

std::optional<bool> Executor::truth_here(int id) {
    if (const auto known = known_truth(id)) return known;
    const Term from = model_.term(id);
    if (from.kind == TermKind::unary && from.text == "not") {
        const auto holds = truth_here(from.operands[0]);
        return holds ? std::optional(!*holds) : std::nullopt;
    }
    if (from.kind != TermKind::binary || from.operands.size() != 2) return std::nullopt;
    if (from.text == "and" || from.text == "or") {
        const auto a = truth_here(from.operands[0]), b = truth_here(from.operands[1]);
        const bool settles = from.text == "or";
        if (a == settles || b == settles) return settles;
        return a && b ? std::optional(!settles) : std::nullopt;
    }
    if (!is_comparison(from.text)) return std::nullopt;
    return comparison_here(from);
}

std::optional<bool> Executor::comparison_here(const Term& of) {
    const Term a = model_.term(of.operands[0]), b = model_.term(of.operands[1]);
    for (const std::size_t i : {0U, 1U}) {  // of one of two numbers, where it is the same of both
        const Term& select = i == 0 ? a : b;
        if (select.kind != TermKind::select || !c::is_integer(select.type)) continue;
        const std::vector<int> guards = state_.guards;
        const std::map<int, Bounds> bounds = state_.bounds;
        std::optional<bool> found[2];
        for (const bool holds : {true, false}) {
            add_guard(select.operands[0], holds, select.where);
            Term one = of;
            one.operands[i] = select.operands[holds ? 1 : 2];
            found[holds ? 0 : 1] = comparison_here(one);
            state_.guards = guards;
            state_.bounds = bounds;
        }
        return found[0] == found[1] ? found[0] : std::nullopt;
    }
    if (a.kind != TermKind::integer || b.kind != TermKind::integer) return std::nullopt;
    const Polynomial apart = b.poly - a.poly;
    const auto is_below = [&](const Polynomial& by) { return is_positive_here(by); };  // a < b
    if (of.text == "==" || of.text == "!=") {
        if (apart.is_zero()) return of.text == "==";
        if (is_below(apart) || is_below(apart * -1)) return of.text == "!=";
        return decided(of);
    }
    const bool is_less = of.text[0] == '<', is_strict = of.text.size() == 1;
    const Polynomial by = is_less ? apart : apart * -1;
    if (is_below(is_strict ? by : by + 1)) return true;
    if (is_below(is_strict ? by * -1 + 1 : by * -1)) return false;
    return std::nullopt;
}

// Whether the number is above zero in all cells for which the thread that runs is here.
bool Executor::is_positive_here(const Polynomial& poly) const {
    if (const auto fixed = poly.constant()) return *fixed > 0;
    for (const int loop : loops_around()) {
        const int symbol = model_.loop(loop).symbol;
        const auto factor = poly.coefficient(symbol);
        if (!factor) continue;
        const Bounds all = known_bounds(loop);
        const auto sign = factor->constant().value_or(0);
        const Polynomial rest = poly.without(symbol);
        // The least that it may be: at one end of the loop. That there is an iteration says something, too.
        for (const Polynomial& low : all.lower) {
            if (sign > 0 && is_at_least_one(rest + *factor * low)) return true;
            for (const Polynomial& high : all.upper)
                if (sign == 0 && is_at_least_one(poly - (high - low - 1))) return true;
        }
        for (const Polynomial& high : all.upper)
            if (sign < 0 && is_at_least_one(rest + *factor * (high - 1))) return true;
    }
    return false;
}
bool Executor::is_at_least_one(const Polynomial& poly) const {
    return span(poly).low >= 1;
}

// ---- the same

int Executor::interned(const std::string& what) {
    return block_->interned.emplace(what, static_cast<int>(block_->interned.size())).first->second;
}

std::string Executor::number_text(const Polynomial& poly) const {
    return poly.text([](int symbol) { return "$" + std::to_string(symbol); });
}

std::string Executor::path_text(const std::vector<PathEntry>& path) const {
    std::string text;
    for (const PathEntry& entry : path) {
        text += fmt::format("[{} {} {} {} {}", entry.level, number_text(entry.stride),
                            number_text(entry.index), entry.modulus.value_or(0), entry.phase.value_or(0));
        std::set<std::string> edges;
        for (const Edge& edge : entry.edges)
            edges.insert(fmt::format("<{} {} {} {}>", model_.loop(edge.loop).symbol, edge.is_low,
                                     number_text(edge.bound), number_text(edge.more)));
        for (const std::string& each : edges)
            text += each;
        text += "]";
    }
    return text;
}

// Of a comparison of whole numbers: which one, and whether it holds or does not. i + 1 < n is i < n - 1, n -
// 1 > i, not i >= n - 1, and i != n - 1 where i is below n.
std::optional<std::pair<std::string, bool>> Executor::comparison_text(const Term& of) {
    if (of.kind != TermKind::binary || !is_comparison(of.text)) return std::nullopt;
    const Term &a = model_.term(of.operands[0]), &b = model_.term(of.operands[1]);
    if (a.kind != TermKind::integer || b.kind != TermKind::integer) return std::nullopt;
    if (const auto found = side(of))
        return std::pair(fmt::format("{} < {}", model_.loop(found->loop).symbol, number_text(found->bound)),
                         found->is_below);
    if (!is_order(of.text)) return std::pair("== " + number_text(a.poly - b.poly), of.text == "==");
    const bool is_less = of.text[0] == '<';
    const bool holds = is_less == (of.text.size() == 1);  // a < b, and not a >= b
    return std::pair("< " + number_text(is_less == holds ? a.poly - b.poly : b.poly - a.poly), holds);
}

// A number that is the same for terms that compute the same in the same way.
int Executor::same_as(int id, std::map<int, int>& known) {
    if (const auto found = known.find(id); found != known.end()) return found->second;
    const Term each = model_.term(id);
    std::string text = fmt::format("{} {} ", static_cast<int>(each.kind), static_cast<int>(each.type));
    if (each.kind == TermKind::number) {
        text += std::to_string(std::bit_cast<std::uint64_t>(each.number));
    } else if (each.kind == TermKind::integer) {
        text += number_text(each.poly);
    } else if (each.kind == TermKind::read) {
        const Read& from = model_.read(each.index);
        text += fmt::format("{} {} {}", from.object, from.sequence, path_text(from.path));
    } else if (const auto compared = comparison_text(each)) {
        text += compared->first + (compared->second ? "" : " not");
    } else if (const auto choice = each.kind == TermKind::select
                                       ? comparison_text(model_.term(each.operands[0]))
                                       : std::nullopt) {
        const int then = each.operands[choice->second ? 1 : 2],
                  otherwise = each.operands[choice->second ? 2 : 1];
        text +=
            choice->first + fmt::format(" then {} else {}", same_as(then, known), same_as(otherwise, known));
    } else {
        text += each.text + " " + std::to_string(each.index);
        for (const int operand : each.operands)
            text += " " + std::to_string(same_as(operand, known));
    }
    return known[id] = interned(text);
}

// What a kept store does for the thread that runs.
std::string Executor::store_text(const Store& kept) {
    std::map<int, Bounds> bounds;
    std::string text = std::to_string(kept.object) + " " + path_text(kept.path);
    const auto loops = loops_around();
    for (const auto& [symbol, held] : kept.bounds) {
        const int loop = loop_with(symbol);
        if (loop < 0) return "";
        Bounds& all = bounds[loop] = held;
        const Loop& of = model_.loop(loop);
        all.lower.push_back(of.lower);
        // Those that others imply say nothing.
        const auto listed = [&](std::vector<Polynomial> some, std::int64_t sign) {
            std::set<std::string> texts;
            for (const Polynomial& each : some) {
                const bool is_implied = std::ranges::any_of(some, [&](const Polynomial& other) {
                    return ((other - each) * sign).constant().value_or(0) > 0;
                });
                if (!is_implied) texts.insert(number_text(each));
            }
            return fmt::format("{}", fmt::join(texts, ","));
        };
        text += fmt::format(" for {} {} {} in {}..{}", symbol, of.descending, of.is_time,
                            listed(all.lower, 1), listed(all.upper, -1));
    }
    const std::map<int, Bounds> outer = std::exchange(state_.bounds, bounds);
    std::map<int, int> known, same;
    std::set<int> guards;
    for (const int guard : kept.guards) {
        const int made = copied(guard, {}, known);
        if (truth_here(made) != true) guards.insert(same_as(made, same));
    }
    text += fmt::format(" if {} = {}", fmt::join(guards, ","), same_as(copied(kept.value, {}, known), same));
    state_.bounds = outer;
    return text;
}

// What this thread stores is what the first one does that stores anything.
void Executor::compare_thread() {
    BlockOfThreads& block = *block_;
    if (state_.stores.empty()) return;
    block.storing.insert(block.thread);
    const std::size_t terms = block.kept.terms.size(), reads = block.kept.reads.size();
    std::vector<Store> own;
    std::map<int, int> known;
    for (const Store& each : state_.stores) {
        Store made = each;
        made.bounds = with_symbols(each.bounds);
        made.value = keep(each.value, known);
        for (int& guard : made.guards)
            guard = keep(guard, known);
        own.push_back(std::move(made));
    }
    if (block.stores.empty()) {
        block.first = block.thread;
        block.stores = std::move(own);
        return;
    }
    for (std::size_t i = 0; i < std::max(own.size(), block.stores.size()); ++i) {
        const bool is_same =
            i < own.size() && i < block.stores.size() && store_text(own[i]) == store_text(block.stores[i]);
        if (is_same) continue;
        throw Refusal(own[std::min(i, own.size() - 1)].where,
                      fmt::format("thread ({}) of a block does something else with its cell than thread ({})",
                                  fmt::join(block.thread, ", "), fmt::join(block.first, ", ")));
    }
    block.kept.terms.resize(terms);
    block.kept.reads.resize(reads);
}

}  // namespace halo::lift
