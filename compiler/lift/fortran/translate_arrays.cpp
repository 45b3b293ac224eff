// Assignments of whole arrays and sections, and WHERE, as loops. Fortran computes what is assigned for all
// elements before it changes one, which the loops say (c::Statement::reads_first).
#include <algorithm>
#include <cstdlib>
#include <set>

#include "compiler/lift/fortran/translate_statements.h"

namespace halo::lift::fortran {

using c::Number;
using ExprKind = c::Expr::Kind;
using StatementKind = c::Statement::Kind;

namespace {

constexpr char kNotAsLong[] =
    "that these arrays are as long as each other is not said by how they are declared: give them bounds, or "
    "assign sections with bounds";

}  // namespace

bool StatementTranslator::is_array(int value) {
    const Held& known = held(value);
    return known.array != nullptr || known.section != nullptr || known.computed != nullptr;
}

// The elements of what is assigned to: along each axis from the first subscript to the last.
std::optional<std::vector<StatementTranslator::Along>> StatementTranslator::axes_of(int value,
                                                                                    SourceRange where) {
    const Held of = held(value);
    std::vector<Along> all;
    if (of.section != nullptr) {
        for (const Section::Axis& axis : of.section->axes) {
            if (axis.step == 0) continue;
            if (axis.step != 1 || axis.lower < 0 || axis.upper < 0) return std::nullopt;
            all.push_back({axis.lower, axis.upper});
        }
    } else if (of.array != nullptr) {
        for (std::size_t i = 0; i < of.array->lower.size(); ++i) {
            const int length = of.array->lengths[i], one = build_.whole(1, Number::i32, where);
            if (length < 0) return std::nullopt;
            const int lower = of.array->lower[i] < 0 ? one : of.array->lower[i];
            all.push_back({lower, sized("-", sized("+", lower, length), one)});
        }
    }
    return all.empty() ? std::nullopt : std::optional(all);
}

bool StatementTranslator::is_as_long(int value, const std::vector<Along>& axes, SourceRange where) {
    const Held of = held(value);
    if (of.computed != nullptr) {
        const mlir::Block& body = of.computed->regions.at(0).at(0);
        return std::ranges::all_of(body.operations, [&](const auto& each) {
            const bool is_part = each->name == "hlfir.designate" || each->name == "hlfir.apply";
            return !is_part || is_as_long(each->operands[0], axes, where);
        });
    }
    if (of.array == nullptr && of.section == nullptr) return true;
    const auto own = axes_of(value, where);
    const auto length = [this](const Along& axis) -> std::optional<Polynomial> {
        const auto lower = polynomial(axis.lower), upper = polynomial(axis.upper);
        return lower && upper ? std::optional(*upper - *lower) : std::nullopt;
    };
    bool is_it = own && own->size() == axes.size();
    for (std::size_t i = 0; is_it && i < axes.size(); ++i) {
        const auto a = length((*own)[i]), b = length(axes[i]);
        is_it = a && b && is_same_length(*a - *b);
    }
    return is_it;
}

// Arrays that are assigned to each other are as long as each other, else the program has no meaning.
bool StatementTranslator::is_same_length(const Polynomial& difference) {
    if (difference.is_zero()) return true;
    std::set<int> lengths;
    for (const auto& [array, sizes] : build_.unit.shapes)
        lengths.insert(sizes.begin(), sizes.end());
    std::vector<int> two;
    for (const auto& [monomial, factor] : difference.terms()) {
        if (monomial.size() != 1 || std::abs(factor) != 1 || lengths.count(monomial[0]) == 0) return false;
        two.push_back(monomial[0]);
    }
    if (two.size() != 2 || !(difference.of({two[0]}) + difference.of({two[1]}) == 0)) return false;
    same_[std::max(two[0], two[1])] = std::min(two[0], two[1]);
    return true;
}

int StatementTranslator::same_as(int length) const {
    const auto found = same_.find(length);
    return found == same_.end() ? length : same_as(found->second);
}

void StatementTranslator::name_lengths() {
    for (c::Expr& each : build_.unit.exprs) {
        if (each.kind != ExprKind::variable) continue;
        each.variable = same_as(each.variable);
        each.text = unit_variable(each.variable).name;
    }
    for (auto& [array, sizes] : build_.unit.shapes) {
        for (int& each : sizes)
            each = same_as(each);
    }
    for (const auto& [length, other] : same_)
        build_.unit.same_lengths[same_as(other)].push_back(unit_variable(length).name);
}

int StatementTranslator::loops_over(const std::vector<Along>& axes, SourceRange where,
                                    const ElementBody& body) {
    std::vector<int> counters, places;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const bool is_wide =
            build_.number_of(axes[i].lower) == Number::i64 || build_.number_of(axes[i].upper) == Number::i64;
        c::Variable counter;
        counter.name = "subscript_" + std::to_string(i + 1);
        counter.type = build_.number_type(is_wide ? Number::i64 : Number::i32);
        counter.where = where;
        counter.init = axes[i].lower;
        counters.push_back(static_cast<int>(build_.unit.variables.size()));
        build_.unit.variables.push_back(std::move(counter));
        const int at = build_.read(build_.variable(counters.back(), where));
        const bool begins_at_one =
            build_.expr(axes[i].lower).kind == ExprKind::integer && build_.expr(axes[i].lower).integer == 1;
        const int one = build_.whole(1, Number::i32, where);
        places.push_back(begins_at_one ? at : sized("+", sized("-", at, axes[i].lower), one));
    }
    c::Statement inner;
    inner.kind = StatementKind::block;
    inner.where = where;
    const bool reads_first = body(places, inner.statements);
    int made = build_.add(std::move(inner));
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const int counter = build_.variable(counters[i], where);
        c::Statement start;
        start.kind = StatementKind::declare;
        start.variables = {counters[i]};
        start.where = where;
        c::Statement loop;
        loop.kind = StatementKind::for_loop;
        loop.where = where;
        loop.is_loop = true;
        loop.reads_first = reads_first;
        loop.statements = {build_.add(std::move(start)), made};
        loop.expr = build_.binary("<=", Number::boolean, build_.read(counter),
                                  fit(axes[i].upper, build_.number_of(counter)));
        loop.step = step_of(build_.copy(counter, where), 1, where);
        made = build_.add(std::move(loop));
    }
    return made;
}

int StatementTranslator::fit(int value, Number type) {
    return build_.number_of(value) == type ? value : build_.convert(value, build_.number_type(type));
}

void StatementTranslator::assign_element(int to, int value, const std::vector<int>& places, SourceRange where,
                                         std::vector<int>& into) {
    const int place = place_at(to, places, where);
    const Number type = build_.number_of(place);
    const bool is_other = build_.number_of(value) != type && build_.number_of(value) != Number::none;
    into.push_back(add_expression(assignment(place, is_other ? fit(value, type) : value, where), where));
}

std::optional<Polynomial> StatementTranslator::polynomial(int id) const {
    const c::Expr& from = build_.unit.exprs[static_cast<std::size_t>(id)];
    if (from.kind == ExprKind::integer) return Polynomial(from.integer);
    if (from.kind == ExprKind::variable) return Polynomial::symbol(same_as(from.variable));
    if (from.kind == ExprKind::convert) return polynomial(from.operands[0]);
    if (from.kind != ExprKind::binary) return std::nullopt;
    const auto left = polynomial(from.operands[0]), right = polynomial(from.operands[1]);
    if (!left || !right) return std::nullopt;
    if (from.text == "+") return *left + *right;
    if (from.text == "-") return *left - *right;
    return from.text == "*" ? std::optional(*left * *right) : std::nullopt;
}

StatementTranslator::Element StatementTranslator::element_named(int place) const {
    const auto expr = [this](int id) -> const c::Expr& {
        return build_.unit.exprs[static_cast<std::size_t>(id)];
    };
    Element made;
    while (expr(place).kind == ExprKind::subscript || expr(place).kind == ExprKind::convert) {
        if (expr(place).kind == ExprKind::subscript)
            made.subscripts.push_back(polynomial(expr(place).operands[1]));
        place = expr(place).operands[0];
    }
    if (expr(place).kind == ExprKind::variable) made.variable = expr(place).variable;
    return made;
}

bool StatementTranslator::reads(int id, int variable) const {
    const c::Expr& from = build_.unit.exprs[static_cast<std::size_t>(id)];
    return (from.kind == ExprKind::variable && from.variable == variable) ||
           std::ranges::any_of(from.operands, [&](int each) { return reads(each, variable); });
}

bool StatementTranslator::reads_another(int id, const Element& element) const {
    const c::Expr& from = build_.unit.exprs[static_cast<std::size_t>(id)];
    if (from.kind == ExprKind::subscript) {
        const Element read = element_named(id);
        const bool is_known =
            std::ranges::all_of(read.subscripts, [](const auto& each) { return each.has_value(); });
        return read.variable == element.variable && (!is_known || read != element);
    }
    return std::ranges::any_of(from.operands, [&](int each) { return reads_another(each, element); });
}

void StatementTranslator::translate_array_store(const mlir::Operation& from, std::vector<int>& into) {
    const SourceRange where = place_of(from);
    const int value = from.operands[0], to = from.operands[1];
    const auto axes = axes_of(to, where);
    const bool is_known = axes && is_current(held(to).version) && (is_array(value) || held(value).expr >= 0);
    if (is_known && !is_as_long(value, *axes, where)) {
        add_unknown(from, kNotAsLong, into);
        return;
    }
    if (!is_known) {
        add_unknown(from, words_for_operation(from), into);
        return;
    }
    const ElementBody body = [&](const std::vector<int>& places, std::vector<int>& inner) {
        const int stored = value_at(value, places, where);
        assign_element(to, stored, places, where, inner);
        return reads(stored, element_named(place_at(to, places, where)).variable);
    };
    into.push_back(loops_over(*axes, where, body));
    something_changes();
}

// ---- WHERE

int StatementTranslator::yielded(const std::vector<mlir::Block>& region) {
    if (region.empty()) return -1;
    for (const auto& each : region.front().operations) {
        if (each->name == "hlfir.yield") return each->operands[0];
        const int once = each->name == "hlfir.exactly_once" ? yielded(each->regions.at(0)) : -1;
        if (once >= 0)
            held(each->results[0]) = held(once);
        else
            translate_value(*each);
    }
    return -1;
}

void StatementTranslator::find_assignments(const mlir::Operation& from,
                                           std::vector<const mlir::Operation*>& into) const {
    if (from.name == "hlfir.region_assign") into.push_back(&from);
    for (const auto& region : from.regions) {
        for (const mlir::Block& block : region) {
            for (const auto& each : block.operations)
                find_assignments(*each, into);
        }
    }
}

void StatementTranslator::translate_where(const mlir::Operation& from, std::vector<int>& into) {
    std::vector<const mlir::Operation*> all;
    find_assignments(from, all);
    SourceRange where = place_of(*from.regions.at(0).at(0).operations.back());  // of the mask
    std::uint32_t last = where.end;
    bool is_known = !all.empty();
    for (const mlir::Operation* each : all) {
        last = std::max(last, place_of(*each).end);
        const int value = yielded(each->regions.at(0)), to = yielded(each->regions.at(1));
        is_known = is_known && axes_of(to, where) && (is_array(value) || held(value).expr >= 0) &&
                   each->regions.at(2).empty();
    }
    const auto axes = is_known ? axes_of(yielded(all.front()->regions.at(1)), where) : std::nullopt;
    const auto is_long = [&](int value) { return value < 0 || is_as_long(value, *axes, where); };
    for (const mlir::Operation* each : all) {
        if (!axes) break;
        is_known = is_known && is_long(yielded(each->regions.at(0))) && is_long(yielded(each->regions.at(1)));
    }
    if (axes && !is_known) {
        add_unknown(from, kNotAsLong, into, where);
        return;
    }
    if (last > where.end) where.end = text_.construct_end(last, "endwhere");
    if (!is_known) {
        add_unknown(from, words_for_operation(from), into, where);
        return;
    }
    const ElementBody body = [&](const std::vector<int>& places, std::vector<int>& inner) {
        Masks masks{*axes, {}};
        inner.push_back(masked(from, places, masks));
        return true;
    };
    into.push_back(loops_over(*axes, where, body));
    something_changes();
}

// All elements are assigned to by one statement before the next one is looked at. For one element after the
// other that is the same where those in between are not read elsewhere.
int StatementTranslator::unless_changed(int value, const Masks& around, SourceRange where) {
    const bool is_changed =
        std::ranges::any_of(around.changed, [&](const Element& each) { return reads_another(value, each); });
    return is_changed
               ? build_.unknown(
                     "another assignment under the same mask changes this at another cell: which comes first "
                     "is not said in one step",
                     where)
               : value;
}

// WHERE or ELSEWHERE for one element; a mask may be missing from the latter.
int StatementTranslator::masked(const mlir::Operation& from, const std::vector<int>& places, Masks& around) {
    c::Statement then, made;
    then.kind = StatementKind::block;
    made.kind = StatementKind::branch;
    const int mask = yielded(from.regions.at(0));
    if (mask >= 0) {
        then.where = made.where = place_of(*from.regions[0][0].operations.back());
        made.expr = truth(value_at(mask, places, made.where), made.where);
        made.expr = is_as_long(mask, around.axes, made.where) ? unless_changed(made.expr, around, made.where)
                                                              : build_.unknown(kNotAsLong, made.where);
    }
    const mlir::Operation* otherwise = nullptr;
    for (const auto& each : from.regions.at(1).at(0).operations) {
        if (each->name == "hlfir.region_assign") {
            const int value = yielded(each->regions[0]), to = yielded(each->regions[1]);
            const SourceRange where = place_of(*each);
            assign_element(to, unless_changed(value_at(value, places, where), around, where), places, where,
                           then.statements);
            around.changed.push_back(element_named(place_at(to, places, where)));
        } else if (each->name == "hlfir.where") {
            then.statements.push_back(masked(*each, places, around));
        } else if (each->name == "hlfir.elsewhere") {
            otherwise = each.get();
        } else if (each->name != "fir.end") {
            add_unknown(*each, words_for_operation(*each), then.statements);
        }
    }
    const int block = build_.add(std::move(then));
    if (mask < 0) return block;
    made.statements.push_back(block);
    if (otherwise != nullptr) made.statements.push_back(masked(*otherwise, places, around));
    return build_.add(std::move(made));
}

}  // namespace halo::lift::fortran
