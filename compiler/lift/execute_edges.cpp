// Indices that are others at an edge: i == 0 ? c : c - 1, max(i - 1, 0), (i + 1) % n. They are the index of
// the other cells plus, beyond a bound of a loop's index, what differs there.
#include <algorithm>
#include <cstdlib>

#include "compiler/lift/executor.h"
#include "compiler/lift/mutation.h"

namespace halo::lift {

using c::Number;

namespace {

std::vector<Edge> sum_of_edges(std::vector<Edge> all, const std::vector<Edge>& more,
                               const Polynomial& times) {
    for (const Edge& each : more) {
        const auto same = std::find_if(all.begin(), all.end(), [&](const Edge& known) {
            return known.loop == each.loop && known.is_low == each.is_low && known.bound == each.bound;
        });
        if (same == all.end()) {
            all.push_back(each);
            all.back().more = each.more * times;
        } else {
            same->more = same->more + each.more * times;
        }
    }
    all.erase(std::remove_if(all.begin(), all.end(), [](const Edge& each) { return each.more.is_zero(); }),
              all.end());
    return all;
}

}  // namespace

std::optional<Shift> Executor::combined(const std::string& op, const Shift& a, const Shift& b) {
    constexpr std::size_t kMostEdges = 4;
    Shift made;
    if (op == "*") {
        if (!a.edges.empty() && !b.edges.empty()) return std::nullopt;
        made.by = a.by * b.by;
        made.edges = a.edges.empty() ? sum_of_edges({}, b.edges, a.by) : sum_of_edges({}, a.edges, b.by);
    } else {
        const Polynomial sign = op == "+" ? 1 : -1;
        made.by = a.by + b.by * sign;
        made.edges = sum_of_edges(a.edges, b.edges, sign);
    }
    return made.edges.size() > kMostEdges ? std::nullopt : std::optional(made);
}

// What an index is, where it is one; read where it is used.
std::optional<Shift> Executor::index_of(int id) {
    const Term from = model_.term(id);
    if (from.kind == Term::Kind::integer) return Shift{from.poly, {}};
    if (from.kind != Term::Kind::select || !c::is_integer(from.type)) return std::nullopt;
    const auto then = index_of(from.operands[1]);
    const auto otherwise = then ? index_of(from.operands[2]) : std::nullopt;
    if (!otherwise) return std::nullopt;
    return chosen_index(model_.term(from.operands[0]), *then, *otherwise);
}

// The index where it is known which of some conditions hold. unknown: one that has to be known, too.
std::optional<Shift> Executor::index_where(int id, const std::map<int, bool>& known, int& unknown) {
    if (auto plain = index_of(id)) return plain;
    const Term from = model_.term(id);
    if (!c::is_integer(from.type)) return std::nullopt;
    if (from.kind == Term::Kind::convert) return index_where(from.operands[0], known, unknown);
    if (from.kind == Term::Kind::select) {
        const Choice made = chooses_ ? choice(id) : Choice{from.operands[0], {}, {}};
        const auto found = known.find(made.condition);
        if (found != known.end()) {
            const std::optional<Shift>& at_edge = found->second ? made.then : made.otherwise;
            return at_edge ? at_edge : index_where(from.operands[found->second ? 1 : 2], known, unknown);
        }
        unknown = made.condition;
        return std::nullopt;
    }
    const bool is_sum = from.kind == Term::Kind::binary && (from.text == "+" || from.text == "-");
    if (!is_sum && !(from.kind == Term::Kind::binary && from.text == "*")) return std::nullopt;
    const auto a = index_where(from.operands[0], known, unknown);
    const auto b = a ? index_where(from.operands[1], known, unknown) : std::nullopt;
    return b ? combined(from.text, *a, *b) : std::nullopt;
}

// A choice between two indices, by a condition that one or two cells at an edge differ in. Where they are the
// same in the cell next to the bound, as in i + 1 >= n - 1 ? n - 1 : i + 1, that cell is left to those
// inside. The index of a cell that is alone then is the one inside and a number more.
const Executor::Choice& Executor::choice(int select) {
    if (const auto known = choices_.find(select); known != choices_.end()) return known->second;
    const Term from = model_.term(select);
    Choice& made = choices_[select];
    made.condition = from.operands[0];
    const auto then = index_of(from.operands[1]), otherwise = index_of(from.operands[2]);
    const bool is_plain = then && otherwise && then->edges.empty() && otherwise->edges.empty();
    const std::optional<Side> found = is_plain ? side(model_.term(made.condition)) : std::nullopt;
    if (!found) return made;
    const Loop& loop = model_.loop(found->loop);
    const Polynomial apart = then->by - otherwise->by;
    const auto factor = apart.coefficient(loop.symbol);
    if (!factor || loop.parallel || loop.is_time) return made;
    const auto apart_in = [&](const Polynomial& cell) { return *factor * cell + apart.without(loop.symbol); };
    const auto below = (found->bound - loop.lower).constant(), above = (loop.upper - found->bound).constant();
    const auto is_few = [](const std::optional<std::int64_t>& cells) {
        return cells && (*cells == 1 || *cells == 2);
    };
    const bool is_low = is_few(below);
    if (is_low == is_few(above)) return made;
    Polynomial cell = is_low ? found->bound - 1 : found->bound;
    if ((is_low ? *below : *above) == 2) {
        if (!apart_in(cell).is_zero()) return made;
        const Polynomial bound = is_low ? cell : cell + 1;
        made.condition = compare(
            found->is_below ? "<" : ">=", whole(Polynomial::symbol(loop.symbol), from.type, from.where),
            whole(bound, from.type, from.where), from.where);
        cell = is_low ? cell - 1 : cell + 1;
    }
    const bool is_then = found->is_below == is_low;  // what stands in the cell
    if (const auto more = apart_in(cell).constant())
        (is_then ? made.then : made.otherwise) =
            Shift{(is_then ? otherwise : then)->by + (is_then ? *more : -*more), {}};
    return made;
}

// A cell of an array whose index depends on a condition, as in a[flux > 0 ? i - 1 : i].
std::optional<Place> Executor::chosen_place(const Pointer& at, int index, std::map<int, bool> known) {
    constexpr std::size_t kMostConditions = 3;
    int unknown = -1;
    Place made;
    if (const auto found = index_where(index, known, unknown)) {
        made.kind = Place::Kind::element;
        made.pointer = move(at, at.type, *found).pointer;
        return made;
    }
    if (unknown < 0 || known.size() >= kMostConditions) return std::nullopt;
    made.kind = Place::Kind::chosen;
    made.condition = unknown;
    for (const bool holds : {true, false}) {
        known[unknown] = holds;
        const auto one = chosen_place(at, index, known);
        if (!one) return std::nullopt;
        (holds ? made.then : made.otherwise) = std::make_shared<const Place>(*one);
    }
    return made;
}

// Whether it is a number, or an array of such.
bool Executor::is_plain_part(int type_id) const {
    const c::Type& of = type(type_id);
    return of.kind == c::Type::Kind::array ? is_plain_part(of.element) : of.kind == c::Type::Kind::number;
}

// An element of an array that is one of two parts of a larger one, as in a[flux > 0 ? j - 1 : j][i].
Place Executor::chosen_part(const Place& of, const c::Expr& subscript) {
    if (of.kind == Place::Kind::chosen) {
        Place made = of;
        made.then = std::make_shared<const Place>(chosen_part(*of.then, subscript));
        made.otherwise = std::make_shared<const Place>(chosen_part(*of.otherwise, subscript));
        return made;
    }
    Pointer at = of.pointer;
    at.type = type(at.type).element;
    const int index = term(subscript.operands[1]);
    if (auto made = chosen_place(at, index, {})) return *made;
    throw Refusal(expr(subscript.operands[1]).where,
                  "which cell this is depends on more than the loops, and so does the row that it is in");
}

Value Executor::load_chosen(const Place& from, SourceRange where) {
    const std::vector<int> guards = state_.guards;
    const std::map<int, Bounds> bounds = state_.bounds;
    Value loaded[2];
    for (const bool holds : {true, false}) {
        add_guard(from.condition, holds, where);
        loaded[holds ? 0 : 1] = load(holds ? *from.then : *from.otherwise, where);
        state_.guards = guards;
        state_.bounds = bounds;
    }
    return merged(from.condition, loaded[0], loaded[1], where);
}

std::optional<Shift> Executor::shift(int id) {
    const Value found = value(id);
    if (found.kind == Value::Kind::nothing && !found.reason.empty())
        throw Refusal(expr(id).where, found.reason);
    return found.kind == Value::Kind::term ? index_of(found.term) : std::nullopt;
}

// The index as a term: a choice for each edge.
int Executor::index_term(const Shift& from, Number type, SourceRange where) {
    if (from.edges.empty()) return computed(from.by, type, {}, where);
    const Edge edge = from.edges.back();
    Shift at_edge = from, elsewhere = from;
    at_edge.edges.pop_back();
    elsewhere.edges.pop_back();
    at_edge.by = at_edge.by + edge.more;
    const int index = whole(Polynomial::symbol(model_.loop(edge.loop).symbol), Number::i64, where);
    Term made;
    made.kind = Term::Kind::select;
    made.type = type;
    made.where = where;
    made.operands = {compare(edge.is_low ? "<" : ">=", index, whole(edge.bound, Number::i64, where), where),
                     index_term(at_edge, type, where), index_term(elsewhere, type, where)};
    return add(made);
}

// The sum, difference or product of two indices of which one at least differs at an edge.
std::optional<int> Executor::index_arithmetic(const std::string& op, int left, int right, Number type,
                                              SourceRange where) {
    const bool is_chosen =
        model_.term(left).kind == Term::Kind::select || model_.term(right).kind == Term::Kind::select;
    if (!is_chosen) return std::nullopt;
    const auto a = index_of(left);
    const auto b = a ? index_of(right) : std::nullopt;
    if (!b) return std::nullopt;
    const auto made = combined(op, *a, *b);
    return made ? std::optional(index_term(*made, type, where)) : std::nullopt;
}

Shift Executor::opposite_of(Shift shift) {
    for (Edge& each : shift.edges)
        each.more = each.more * Polynomial(-1);
    return {shift.by * Polynomial(-1), std::move(shift.edges)};
}

Value Executor::move(Pointer from, int pointed_type, const Shift& by) {
    const Polynomial stride = elements(pointed_type);
    for (PathEntry& entry : from.path) {
        if (entry.level == from.level && entry.stride == stride && !entry.modulus) {
            entry.index = entry.index + by.by;
            entry.edges = sum_of_edges(entry.edges, by.edges, 1);
            return Value::of(from);
        }
    }
    PathEntry entry;
    entry.level = from.level;
    entry.stride = stride;
    entry.index = by.by;
    entry.edges = by.edges;
    from.path.push_back(entry);
    return Value::of(from);
}

// Whether a cell's index is below a bound where the comparison holds, or at least the bound.
std::optional<Executor::Side> Executor::side(const Term& comparison) {
    if (comparison.kind == Term::Kind::unary && comparison.text == "not") {
        std::optional<Side> made = side(model_.term(comparison.operands[0]));
        if (made) made->is_below = !made->is_below;
        return made;
    }
    if (comparison.kind != Term::Kind::binary || comparison.operands.size() != 2) return std::nullopt;
    const auto left = index_of(comparison.operands[0]);
    const auto right = left && left->edges.empty() ? index_of(comparison.operands[1]) : std::nullopt;
    if (!right || !right->edges.empty()) return std::nullopt;
    const Polynomial apart = left->by - right->by;
    const std::string& op = comparison.text;
    const bool is_order = op == "<" || op == "<=" || op == ">" || op == ">=";
    Side made;
    for (const int each : loops_around()) {
        if (!apart.has(model_.loop(each).symbol)) continue;
        if (made.loop >= 0) return is_order ? flat_side(op, apart) : std::nullopt;
        made.loop = each;
    }
    if (made.loop < 0 || model_.loop(made.loop).is_time) return std::nullopt;
    const int symbol = model_.loop(made.loop).symbol;
    const auto factor = apart.coefficient(symbol);
    const auto sign = factor ? factor->constant() : std::nullopt;
    if (!sign || (*sign != 1 && *sign != -1)) return std::nullopt;
    const Polynomial at = apart.without(symbol) * Polynomial(-*sign);  // i OP at
    if (op == "==" || op == "!=") {
        const Bounds all = known_bounds(made.loop);
        const auto is = [](const Polynomial& a, const Polynomial& b) { return (a - b).is_zero(); };
        const bool is_first = std::any_of(all.lower.begin(), all.lower.end(),
                                          [&](const Polynomial& each) { return is(each, at); });
        const bool is_last = std::any_of(all.upper.begin(), all.upper.end(),
                                         [&](const Polynomial& each) { return is(each - 1, at); });
        if (!is_first && !is_last) return std::nullopt;
        made.bound = is_first ? at + 1 : at;
        made.is_below = is_first == (op == "==");
        return made;
    }
    if (!is_order) return std::nullopt;
    const bool is_less = op == "<" || op == "<=", is_strict = op == "<" || op == ">";
    made.is_below = is_less == (*sign == 1);
    made.bound = made.is_below == is_strict ? at : at + 1;  // i < at, i <= at, i > at, i >= at
    return made;
}

Bounds Executor::known_bounds(int loop) const {
    const auto found = state_.bounds.find(loop);
    Bounds all = found == state_.bounds.end() ? Bounds{} : found->second;
    all.lower.push_back(model_.loop(loop).lower);
    if (model_.loop(loop).parallel && !model_.loop(loop).upper.is_zero())
        all.upper.push_back(model_.loop(loop).upper);
    return all;
}

// One of two indices, by a condition on a loop's index.
std::optional<Shift> Executor::chosen_index(const Term& test, const Shift& then, const Shift& otherwise) {
    if (auto one = extremum(test, then, otherwise)) return one;
    const std::optional<Side> found = side(test);
    if (!found) return std::nullopt;
    const Bounds all = known_bounds(found->loop);
    std::optional<std::int64_t> from_low, from_high;
    for (const Polynomial& each : all.lower) {
        if (const auto apart = (found->bound - each).constant())
            from_low = std::min(from_low.value_or(*apart), *apart);
    }
    for (const Polynomial& each : all.upper) {
        if (const auto apart = (each - found->bound).constant())
            from_high = std::min(from_high.value_or(*apart), *apart);
    }
    if (from_low && *from_low <= 0) return found->is_below ? otherwise : then;  // never below
    if (from_high && *from_high <= 0) return found->is_below ? then : otherwise;
    if (chooses_ || (!from_low && !from_high) || then.edges != otherwise.edges) return std::nullopt;
    Edge made;
    made.loop = found->loop;
    made.is_low = from_low && (!from_high || *from_low <= *from_high);
    made.bound = found->bound;
    const bool is_then = made.is_low == found->is_below;  // what stands at the edge
    const Shift &at_edge = is_then ? then : otherwise, &elsewhere = is_then ? otherwise : then;
    made.more = at_edge.by - elsewhere.by;
    return Shift{elsewhere.by, sum_of_edges(elsewhere.edges, {made}, 1)};
}

// The larger or the smaller of two indices of which it is known which one it is: what the first clamp of
// max(min(i + 1, n - 1), 0) leaves for the second to do.
std::optional<Shift> Executor::extremum(const Term& test, const Shift& then, const Shift& otherwise) {
    const bool is_order = test.kind == Term::Kind::binary &&
                          (test.text == "<" || test.text == "<=" || test.text == ">" || test.text == ">=");
    if (!is_order) return std::nullopt;
    const auto left = index_of(test.operands[0]);
    const auto right = left ? index_of(test.operands[1]) : std::nullopt;
    if (!right) return std::nullopt;
    const bool is_straight = *left == then && *right == otherwise;
    if (!is_straight && !(*left == otherwise && *right == then)) return std::nullopt;
    const bool takes_larger = (test.text == ">" || test.text == ">=") == is_straight;
    const std::vector<int> loops = loops_around();
    const auto is_at_least = [&](const Shift& large, const Shift& small) {
        if (large.edges.size() + small.edges.size() > 1) return false;
        bool is_so = is_never_negative(large.by - small.by, loops);
        for (const Edge& each : large.edges)
            is_so = is_so && is_never_negative(large.by + each.more - small.by, loops);
        for (const Edge& each : small.edges)
            is_so = is_so && is_never_negative(large.by - small.by - each.more, loops);
        return is_so;
    };
    if (is_at_least(then, otherwise)) return takes_larger ? then : otherwise;
    if (is_at_least(otherwise, then)) return takes_larger ? otherwise : then;
    return std::nullopt;
}

bool Executor::varies(const Polynomial& poly) const {
    return std::any_of(model_.loops.begin(), model_.loops.end(),
                       [&](const Loop& each) { return poly.has(each.symbol); });
}

// (i + 1) % n and (i - 1 + n) % n of an index that goes from 0 to n.
std::optional<int> Executor::wrapped_index(int left, int right, Number type, SourceRange where) {
    const Term a = model_.term(left), b = model_.term(right);
    if (a.kind != Term::Kind::integer || b.kind != Term::Kind::integer) return std::nullopt;
    for (const int each : loops_around()) {
        const int symbol = model_.loop(each).symbol;
        const auto factor = a.poly.coefficient(symbol);
        if (!factor || !(*factor == Polynomial(1)) || varies(b.poly)) continue;
        const Bounds all = known_bounds(each);
        const bool is_from_zero =
            std::any_of(all.lower.begin(), all.lower.end(),
                        [](const Polynomial& lower) { return lower.constant().value_or(-1) >= 0; });
        const bool is_within = std::any_of(all.upper.begin(), all.upper.end(), [&](const Polynomial& upper) {
            return (b.poly - upper).constant().value_or(-1) >= 0;
        });
        if (!is_from_zero || !is_within) continue;
        const Polynomial rest = a.poly.without(symbol);
        const auto plain = rest.constant(), after_turn = (rest - b.poly).constant();
        const bool is_unsigned = span_of(type).low == 0;
        const auto is_certain = [&](const Polynomial& need) {
            return is_never_negative(need, loops_around());
        };
        if (is_unsigned && !std::all_of(a.needs.begin(), a.needs.end(), is_certain)) return std::nullopt;
        if ((!plain || *plain < 0) && !after_turn) continue;
        const std::int64_t away = plain && *plain >= 0 ? *plain : *after_turn;
        Shift made{Polynomial::symbol(symbol) + away, {}};
        if (away < 0) made.edges = {{each, true, -away, b.poly}};
        if (away > 0) made.edges = {{each, false, b.poly - away, b.poly * Polynomial(-1)}};
        model_.needs.push_back(b.poly - std::abs(away) + 1);  // once around
        return index_term(made, type, where);
    }
    return std::nullopt;
}

// Where a loop begins or ends. Of a window around a cell (max(j - 1, 0), min(j + 1, n - 1)): where it does
// inside, and `cut` is where it does at the edge.
Polynomial Executor::window_bound(int id, const std::string& what, bool is_low,
                                  std::optional<Polynomial>& cut) {
    const auto found = shift(id);
    if (found && found->edges.empty()) return found->by;
    if (found && found->edges.size() == 1) {
        const Edge& edge = found->edges.front();
        const int index = model_.loop(edge.loop).symbol;
        const Polynomial at_edge = found->by + edge.more, offset = found->by - Polynomial::symbol(index);
        // Where the two are the same cell, it does not matter on which side of the bound that is.
        const auto beyond = (edge.bound - (at_edge - offset)).constant();
        const bool is_cut = edge.is_low == is_low && offset.constant() && !at_edge.has(index) && beyond &&
                            (*beyond == 0 || *beyond == 1);
        if (is_cut) {
            cut = at_edge;
            return found->by;
        }
    }
    throw Refusal(expr(id).where, what + " is not made of whole numbers that are known before the loops");
}

// Of a window that is cut off: the conditions by which it has this cell.
std::vector<int> Executor::cut_conditions(const Header& header, const Polynomial& at) {
    std::vector<int> all;
    if (has(Mutation::drop_cut)) return all;
    const auto add_one = [&](const char* op, const std::optional<Polynomial>& cut) {
        if (!cut) return;
        const int cell = whole(at, Number::i64, header.where), bound = whole(*cut, Number::i64, header.where);
        const int condition = compare(op, cell, bound, header.where);
        if (decided(model_.term(condition)) != true) all.push_back(condition);
    };
    add_one(">=", header.cut_low);
    add_one("<", header.cut_high);
    return all;
}

// Whether the loop goes up an array in one place and down in another, as where cells are mirrored at an edge.
// No axis is both; written out, each cell is a fixed one.
bool Executor::mirrors_cells(const State& before, std::size_t reads_before, int loop_id) {
    const int symbol = model_.loop(loop_id).symbol;
    std::map<std::pair<int, int>, Polynomial> seen;  // by object and level
    const auto turns = [&](int object, const std::vector<PathEntry>& path) {
        return std::ranges::any_of(path, [&](const PathEntry& entry) {
            const auto factor = entry.index.coefficient(symbol);
            if (object < 0 || !factor || factor->is_zero()) return false;
            const Polynomial stride = *factor * entry.stride;
            const auto [other, is_first] = seen.emplace(std::pair(object, entry.level), stride);
            if (is_first || !(other->second + stride).is_zero()) return false;
            const bool is_up = stride.terms().begin()->second > 0;
            model_.written_out.push_back({object, entry.level, is_up ? stride : other->second});
            return true;
        });
    };
    for (std::size_t i = before.stores.size(); i < state_.stores.size(); ++i) {
        if (turns(state_.stores[i].object, state_.stores[i].path)) return true;
    }
    return std::any_of(model_.reads.begin() + static_cast<std::ptrdiff_t>(reads_before), model_.reads.end(),
                       [&](const Read& read) { return turns(read.object, read.path); });
}

}  // namespace halo::lift
