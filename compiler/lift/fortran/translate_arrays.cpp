// Assignments of whole arrays and sections, and WHERE, as loops. Fortran computes what is assigned for all
// elements before it changes one, which the loops say (c::Statement::reads_first).
#include <algorithm>
#include <set>

#include "compiler/lift/fortran/translate_statements.h"

namespace halo::lift::fortran {

using c::Number;
using ExprKind = c::Expr::Kind;
using StatementKind = c::Statement::Kind;

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

int StatementTranslator::assign_element(int to, int value, const std::vector<int>& places, SourceRange where,
                                        std::vector<int>& into) {
    const int place = place_at(to, places, where), made = value_at(value, places, where);
    const Number type = build_.number_of(place);
    const bool is_other = build_.number_of(made) != type && build_.number_of(made) != Number::none;
    into.push_back(add_expression(assignment(place, is_other ? fit(made, type) : made, where), where));
    return made;
}

bool StatementTranslator::reads(int id, int variable) const {
    const c::Expr& from = build_.unit.exprs[static_cast<std::size_t>(id)];
    return (from.kind == ExprKind::variable && from.variable == variable) ||
           std::ranges::any_of(from.operands, [&](int each) { return reads(each, variable); });
}

void StatementTranslator::translate_array_store(const mlir::Operation& from, std::vector<int>& into) {
    const SourceRange where = place_of(from);
    const int value = from.operands[0], to = from.operands[1];
    const auto axes = axes_of(to, where);
    const bool is_known = axes && is_current(held(to).version) && (is_array(value) || held(value).expr >= 0);
    if (!is_known) {
        add_unknown(from, words_for_operation(from), into);
        return;
    }
    const ElementBody body = [&](const std::vector<int>& places, std::vector<int>& inner) {
        const int stored = assign_element(to, value, places, where, inner);
        std::set<int> variables;
        mention_expr(place_at(to, places, where), variables);
        return std::ranges::any_of(variables, [&](int each) { return reads(stored, each); });
    };
    into.push_back(loops_over(*axes, where, body));
    something_changes();
}

// ---- WHERE

int StatementTranslator::yielded(const std::vector<mlir::Block>& region) {
    if (region.empty()) return -1;
    for (const auto& each : region.front().operations) {
        if (each->name == "hlfir.yield") return each->operands[0];
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
    if (last > where.end) where.end = text_.construct_end(last, "endwhere");
    if (!is_known) {
        add_unknown(from, words_for_operation(from), into);
        return;
    }
    const auto axes = axes_of(yielded(all.front()->regions.at(1)), where);
    const ElementBody body = [&](const std::vector<int>& places, std::vector<int>& inner) {
        inner.push_back(masked(from, places));
        return true;
    };
    into.push_back(loops_over(*axes, where, body));
    something_changes();
}

// WHERE or ELSEWHERE for one element; a mask may be missing from the latter.
int StatementTranslator::masked(const mlir::Operation& from, const std::vector<int>& places) {
    c::Statement then, made;
    then.kind = StatementKind::block;
    made.kind = StatementKind::branch;
    const int mask = yielded(from.regions.at(0));
    if (mask >= 0) {
        then.where = made.where = place_of(*from.regions[0][0].operations.back());
        made.expr = truth(value_at(mask, places, made.where), made.where);
    }
    const mlir::Operation* otherwise = nullptr;
    for (const auto& each : from.regions.at(1).at(0).operations) {
        if (each->name == "hlfir.region_assign") {
            const int value = yielded(each->regions[0]), to = yielded(each->regions[1]);
            assign_element(to, value, places, place_of(*each), then.statements);
        } else if (each->name == "hlfir.where") {
            then.statements.push_back(masked(*each, places));
        } else if (each->name == "hlfir.elsewhere") {
            otherwise = each.get();
        } else if (each->name != "fir.end") {
            add_unknown(*each, words_for_operation(*each), then.statements);
        }
    }
    const int block = build_.add(std::move(then));
    if (mask < 0) return block;
    made.statements.push_back(block);
    if (otherwise != nullptr) made.statements.push_back(masked(*otherwise, places));
    return build_.add(std::move(made));
}

}  // namespace halo::lift::fortran
