// Sums, smallest and largest values over a loop. A variable that a nest leaves to what follows it holds, in
// each iteration, what earlier iterations have left in it (`running`); where an iteration adds to that, or
// takes the larger one, and does nothing else with it, the loop is a reduction.
#include <algorithm>

#include "compiler/lift/executor.h"

namespace halo::lift {

using c::Number;

bool Executor::is_result(int id) const {
    const c::Type& of = type(variable(id).type);
    const c::Type& held = of.is_reference ? type(of.element) : of;
    return held.kind == c::Type::Kind::number && held.number != Number::boolean &&
           std::count(unit_.results.begin(), unit_.results.end(), id) > 0;
}

// Of a variable, be it by reference.
Number Executor::number_in(int id) const {
    const c::Type& of = type(variable(id).type);
    return of.is_reference ? number_of(of.element) : of.number;
}

int Executor::running(int id, SourceRange where) {
    Term made;
    made.kind = Term::Kind::running;
    made.type = number_in(id);
    made.index = id;
    made.where = where;
    return add(made);
}

bool Executor::has_running(int id, int wanted) const {
    const Term& from = model_.term(id);
    if (from.kind == Term::Kind::running) return wanted < 0 || from.index == wanted;
    return std::any_of(from.operands.begin(), from.operands.end(),
                       [&](int operand) { return has_running(operand, wanted); });
}

// Whether both compute the same, of the same cells. at_once: with no store between them.
bool Executor::is_same(int first, int second, bool at_once) const {
    if (first == second) return true;
    const Term &a = model_.term(first), &b = model_.term(second);
    if (a.kind != b.kind || a.type != b.type || a.text != b.text || a.operands.size() != b.operands.size() ||
        a.number != b.number || !(a.poly == b.poly))
        return false;
    if (a.kind == Term::Kind::read) {
        const Read &p = model_.read(a.index), &q = model_.read(b.index);
        if (p.object != q.object || p.path != q.path || (at_once && p.sequence != q.sequence)) return false;
    } else if (a.index != b.index) {
        return false;
    }
    for (std::size_t i = 0; i < a.operands.size(); ++i) {
        if (!is_same(a.operands[i], b.operands[i], at_once)) return false;
    }
    return true;
}

bool Executor::add_part(ReductionMatch& found, const std::string& op, int value) {
    if (found.is_single || has_running(value, -1)) return false;
    if (!found.op.empty() && found.op != op) return false;
    found.op = op;
    Store part;
    part.value = value;
    part.where = model_.term(value).where;
    found.parts.push_back(part);
    return true;
}

// s = larger > s ? larger : s
bool Executor::match_select(const Term& chosen, int wanted, ReductionMatch& found) {
    const int condition = chosen.operands[0];
    const Term test = model_.term(condition);
    const auto is_itself = [&](int id) {
        int at = id;
        while (model_.term(at).kind == Term::Kind::convert)
            at = model_.term(at).operands[0];
        return model_.term(at).kind == Term::Kind::running && model_.term(at).index == wanted;
    };
    if (!has_running(condition, wanted)) {  // in some cells alone
        const bool then = is_itself(chosen.operands[2]);
        if (!then && !is_itself(chosen.operands[1])) return false;
        ReductionMatch inner;
        if (!match_reduction(chosen.operands[then ? 1 : 2], wanted, inner)) return false;
        if (inner.parts.size() > 1 || found.is_single || !found.parts.empty()) return false;
        const int guard = then ? condition : negation(condition, chosen.where);
        for (Store& part : inner.parts)
            part.guards.push_back(guard);
        found = inner;
        found.is_single = true;
        return true;
    }
    const bool compares = test.kind == Term::Kind::binary &&
                          (test.text == "<" || test.text == "<=" || test.text == ">" || test.text == ">=");
    if (!compares) return false;
    const bool is_left = is_itself(test.operands[0]);
    if (is_left == is_itself(test.operands[1])) return false;
    const int other = test.operands[is_left ? 1 : 0];
    const bool takes_other = is_itself(chosen.operands[2]);
    if (takes_other == is_itself(chosen.operands[1])) return false;
    const int taken = chosen.operands[takes_other ? 1 : 2];
    const auto plain = [&](int id) {
        while (model_.term(id).kind == Term::Kind::convert)
            id = model_.term(id).operands[0];
        return id;
    };
    if (!is_same(plain(other), plain(taken))) return false;
    // s < other, and other is taken: the larger one.
    const bool other_is_larger = (test.text == "<" || test.text == "<=") == is_left;
    return add_part(found, other_is_larger == takes_other ? "max" : "min", taken);
}

bool Executor::match_call(const Term& call, int wanted, ReductionMatch& found) {
    if ((call.text != "min" && call.text != "max") || call.operands.size() != 2) return false;
    const bool is_left = has_running(call.operands[0], wanted);
    if (is_left == has_running(call.operands[1], wanted)) return false;
    return match_reduction(call.operands[is_left ? 0 : 1], wanted, found) &&
           add_part(found, call.text, call.operands[is_left ? 1 : 0]);
}

// Matches an iteration whose result is the term with an addition to the variable's former value.
bool Executor::match_reduction(int id, int wanted, ReductionMatch& found) {
    const Term from = model_.term(id);
    switch (from.kind) {
        case Term::Kind::running:
            return from.index == wanted;
        case Term::Kind::convert:
            return (c::is_real(from.type) || c::is_integer(model_.term(from.operands[0]).type)) &&
                   match_reduction(from.operands[0], wanted, found);
        case Term::Kind::binary: {
            if ((from.text != "+" && from.text != "-") || from.type == Number::boolean) return false;
            const bool is_left = has_running(from.operands[0], wanted);
            if (is_left == has_running(from.operands[1], wanted) || (!is_left && from.text == "-"))
                return false;
            if (!match_reduction(from.operands[is_left ? 0 : 1], wanted, found)) return false;
            int value = from.operands[is_left ? 1 : 0];
            if (from.text == "-") {
                Term minus;
                minus.kind = Term::Kind::unary;
                minus.type = model_.term(value).type;
                minus.text = "-";
                minus.operands = {value};
                minus.where = from.where;
                value = add(minus);
            }
            return add_part(found, "sum", value);
        }
        case Term::Kind::call:
            return match_call(from, wanted, found);
        case Term::Kind::select:
            return match_select(from, wanted, found);
        case Term::Kind::reduced: {
            const Reduction& inner = model_.reduction(from.index);
            if (!match_reduction(from.operands[0], wanted, found) || !found.parts.empty()) return false;
            found.op = inner.op;
            found.parts = {inner.cells};
            found.values = inner.parts;
            found.is_single = true;
            return true;
        }
        default:
            return false;
    }
}

std::optional<Value> Executor::reduction(int id, const Value& before, const Value& after, int loop,
                                         const Bounds& bounds, SourceRange where) {
    ReductionMatch found;
    if (after.kind != Value::Kind::term || before.kind != Value::Kind::term) return std::nullopt;
    if (!match_reduction(after.term, id, found) || found.parts.empty()) return std::nullopt;
    std::vector<int> loops = loops_around();
    loops.push_back(loop);
    for (const Store& part : found.parts) {
        if (found.values.empty())
            require_exact(part.value, loops);  // else an inner loop's, which has done it
    }
    Reduction made;
    made.op = found.op;
    made.name = variable(id).name;
    made.variable = id;
    made.type = number_in(id);
    made.cells = found.parts.front();
    made.parts = found.values;
    for (const Store& part : found.parts) {
        if (found.values.empty() || found.parts.size() > 1) made.parts.push_back(part.value);
    }
    for (std::size_t i = 1; i < found.parts.size(); ++i) {
        Term both;
        both.kind = made.op == "sum" ? Term::Kind::binary : Term::Kind::call;
        both.text = made.op == "sum" ? "+" : made.op;
        both.operands = {made.cells.value, found.parts[i].value};
        both.type = model_.term(both.operands[0]).type;
        both.where = where;
        if (both.type != model_.term(both.operands[1]).type) return std::nullopt;
        made.cells.value = add(both);
    }
    made.cells.loops.insert(made.cells.loops.begin(), loop);
    made.cells.bounds[loop] = bounds;
    made.cells.reduction = static_cast<int>(model_.reductions.size());
    model_.reductions.push_back(made);
    Term accumulated;
    accumulated.kind = Term::Kind::reduced;
    accumulated.type = made.type;
    accumulated.index = made.cells.reduction;
    accumulated.operands = {before.term};
    accumulated.where = where;
    return Value::of(add(accumulated));
}

// After a loop: what its iterations have accumulated; all else that they changed has no value.
void Executor::settle_carried(const Header& header, const State& before, const std::vector<int>& carried,
                              int loop) {
    const auto refuse = [&](int id, SourceRange where) {
        throw Refusal(
            where, "`" + variable(id).name + "` has a value from the iteration of the loop over `" +
                       header.name +
                       "` before: it is carried from cell to cell (sums over cells are a spec's `reduce`)");
    };
    for (std::size_t i = before.stores.size(); i < state_.stores.size(); ++i) {
        const Store& store = state_.stores[i];
        for (const int id : carried) {
            bool reads = has_running(store.value, id);
            for (const int guard : store.guards)
                reads = reads || has_running(guard, id);
            if (reads) refuse(id, store.where);
        }
    }
    std::map<int, Value> after;
    for (const int id : carried) {
        std::optional<Value> accumulated;
        if (is_result(id)) {
            const auto held = before.variables.find(id);
            const Value first = held != before.variables.end() ? held->second : given_value(id, header.where);
            accumulated = reduction(id, first, state_.variables.at(id), loop,
                                    {{header.lower}, {header.upper}}, header.where);
        }
        after[id] = accumulated.value_or(Value::none("`" + variable(id).name + "` is what the loop over `" +
                                                     header.name + "` left in it"));
    }
    for (auto& [id, value] : after)
        state_.variables[id] = std::move(value);
}

}  // namespace halo::lift
