#include "compiler/passes/sum_plan.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace halo::passes {

using namespace ir;

namespace {

Offset operator+(Offset a, const Offset& b) {
    for (int axis = 0; axis < kMaxRank; ++axis)
        a[axis] += b[axis];
    return a;
}

Offset along(int axis, int place) {
    Offset offset{};
    offset[axis] = place;
    return offset;
}

Weight operator*(const Rational& number, const Weight& weight) {
    return {weight.factor, number * weight.scale};
}

// The magnitude of a weight: weights of one magnitude share a multiplication.
Weight size_of(const Weight& weight) {
    return {weight.factor, abs(weight.scale)};
}
Rational sign_of(const Weight& weight) {
    return weight.scale.is_negative() ? -1 : 1;
}

// Whether a weight of this value costs no rounding of its own, whatever the type.
bool is_exact(const Rational& ratio) {
    const float rounded = ratio.to_float();
    return std::isfinite(rounded) && Rational::from_double(rounded) == ratio;
}

// Scales a part of a plan; a sum that is a single product keeps its weight.
SumPlan::Part scaled(const Weight& weight, const SumPlan::Part& part, const Offset& shift) {
    SumPlan::Part result = part;
    result.weight = part.weight.factor ? weight.scale * part.weight : part.weight.scale * weight;
    result.shift = part.shift + shift;
    return result;
}

}  // namespace

SumPlan::Part SumPlanner::make_sum(std::vector<Part> parts) {
    if (parts.size() == 1) return parts.front();
    return {{}, {}, &plans_.emplace_back(SumPlan{std::move(parts)})};
}

SumPlan::Part SumPlanner::whole(const std::vector<Tap>& taps, int axis) {
    return make_sum(plan(taps, axis));
}

// Plans a row: a sum for each magnitude of weight.
std::vector<SumPlan::Part> SumPlanner::plan_row(const std::vector<Tap>& taps) {
    std::vector<std::pair<Weight, std::vector<Part>>> groups;
    std::map<Weight, std::size_t> place;
    for (const Tap& tap : taps) {
        const auto [it, added] = place.emplace(size_of(tap.weight), groups.size());
        if (added) groups.push_back({it->first, {}});
        groups[it->second].second.push_back({{{}, sign_of(tap.weight)}, tap.offset, nullptr});
    }
    if (groups.size() == 1 && groups.front().first.is_sign()) return std::move(groups.front().second);
    std::vector<Part> parts;
    for (auto& [weight, group] : groups)
        parts.push_back(scaled(weight, make_sum(std::move(group)), {}));
    return parts;
}

std::vector<SumPlan::Part> SumPlanner::plan(const std::vector<Tap>& taps, int axis) {
    if (axis == 0) return plan_row(taps);
    std::map<Offset, std::size_t> place;
    std::vector<std::pair<Offset, Column>> columns;  // in the order of the first of each
    for (const Tap& tap : taps) {
        Offset beside = tap.offset;
        beside[axis] = 0;
        const auto [it, added] = place.emplace(beside, columns.size());
        if (added) columns.push_back({beside, {}});
        columns[it->second].second.emplace_back(tap.offset[axis], tap.weight);
    }
    std::map<int, std::vector<Tap>> alone;
    std::vector<std::pair<Offset, Column>> several;
    for (auto& [beside, column] : columns) {
        std::sort(column.begin(), column.end());
        if (column.size() == 1) {
            alone[column.front().first].push_back({beside, column.front().second});
        } else {
            several.emplace_back(beside, std::move(column));
        }
    }
    Planes planes;
    for (const auto& [where, in_plane] : alone)
        plan_alone(in_plane, axis, where, planes);
    add_classes(classes(several), axis, planes);
    std::vector<Part> parts;
    for (auto& [where, in_plane] : planes.parts) {
        // Terms without a multiplication come first: a sum that begins with one needs no multiplication for
        // it.
        std::stable_partition(in_plane.begin(), in_plane.end(),
                              [](const Part& part) { return part.weight.is_sign(); });
        parts.insert(parts.end(), in_plane.begin(), in_plane.end());
    }
    return parts;
}

// Plans the places that have a weight in one plane alone.
void SumPlanner::plan_alone(const std::vector<Tap>& taps, int axis, int place, Planes& planes) {
    std::vector<Part>& parts = planes.parts[place];
    const Offset shift = along(axis, place);
    const Weight size = size_of(taps.front().weight);
    const bool is_even =
        std::all_of(taps.begin(), taps.end(), [&](const Tap& tap) { return size_of(tap.weight) == size; });
    if (!is_even) {
        for (const Part& part : plan(taps, axis - 1))
            parts.push_back(scaled({}, part, shift));
        return;
    }
    std::vector<Tap> bare = taps;
    for (Tap& tap : bare)
        tap.weight = {{}, sign_of(tap.weight)};
    parts.push_back(scaled(size, whole(bare, axis - 1), shift));
}

// Groups columns whose weights are proportional into classes, as far as the proportions are exact numbers.
std::vector<SumPlanner::Class> SumPlanner::classes(const std::vector<std::pair<Offset, Column>>& columns) {
    struct Proportional {
        Column unit;
        std::vector<std::pair<Offset, Rational>> members;  // in these units
    };
    std::map<Column, std::size_t> place;
    std::vector<Proportional> found;
    for (const auto& [beside, column] : columns) {
        const bool numbers = std::none_of(column.begin(), column.end(),
                                          [](const auto& entry) { return entry.second.factor.has_value(); });
        const Weight& first = column.front().second;
        const Rational unit = numbers ? first.scale : sign_of(first);
        Column normal = column;
        for (auto& [where, weight] : normal)
            weight = Rational(1) / unit * weight;
        const auto [it, added] = place.emplace(std::move(normal), found.size());
        if (added) found.push_back({it->first, {}});
        found[it->second].members.emplace_back(beside, unit);
    }
    std::vector<Class> result;
    for (const Proportional& each : found) {
        std::map<Rational, int> often;
        for (const auto& [beside, scale] : each.members)
            ++often[abs(scale)];
        Rational unit = abs(each.members.front().second);
        for (const auto& [size, count] : often)
            if (count > often[unit]) unit = size;
        std::map<Rational, std::size_t> by_unit;
        for (const auto& [beside, scale] : each.members) {
            const Rational own = is_exact(abs(scale) / unit) ? unit : abs(scale);
            const auto [it, added] = by_unit.emplace(own, result.size());
            if (added) {
                result.push_back({each.unit, {}});
                for (auto& [where, weight] : result.back().column)
                    weight = own * weight;
            }
            result[it->second].members.push_back({beside, {{}, scale / own}});
        }
    }
    return result;
}

void SumPlanner::add_classes(const std::vector<Class>& classes, int axis, Planes& planes) {
    std::vector<Part> sums;
    std::map<int, Row> rows;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        sums.push_back(whole(classes[i].members, axis - 1));
        for (const auto& [place, weight] : classes[i].column)
            rows[place].emplace_back(i, weight);
    }
    if (rows.empty()) return;
    const int lowest = planes.parts.empty() ? rows.begin()->first
                                            : std::min(rows.begin()->first, planes.parts.begin()->first);
    // Planes whose rows of weights are equal, or opposite.
    std::map<Row, std::vector<int>> same;
    for (const auto& [place, row] : rows) {
        Row normal = row;
        const Rational sign = sign_of(row.front().second);
        for (auto& [which, weight] : normal)
            weight = sign * weight;
        same[std::move(normal)].push_back(place);
    }
    const auto add_row = [&](const Row& row, const Offset& shift, std::vector<Part>& parts) {
        for (const auto& [which, weight] : row)
            parts.push_back(scaled(weight, sums[which], shift));
    };
    for (const auto& [normal, places] : same) {
        const bool any_bare = std::any_of(normal.begin(), normal.end(),
                                          [](const auto& entry) { return entry.second.is_sign(); });
        const std::size_t times = places.size();
        const bool starts = places.front() == lowest;  // the first of a sum needs no addition
        const std::size_t one_by_one = times * normal.size() - (starts && any_bare ? 1 : 0);
        const std::size_t shared = normal.size() - (any_bare ? 1 : 0) + times - (starts ? 1 : 0);
        if (shared >= one_by_one) {
            for (const int place : places)
                add_row(rows[place], along(axis, place), planes.parts[place]);
            continue;
        }
        // A sum from below takes the signs of the lowest plane, with which it begins, unless they are all
        // minus.
        const Row& lowest_row = rows[places.front()];
        const bool is_minus = std::all_of(lowest_row.begin(), lowest_row.end(),
                                          [](const auto& entry) { return entry.second.scale.is_negative(); });
        Row row = lowest_row;
        for (auto& [which, weight] : row)
            weight = Rational(is_minus ? -1 : 1) * weight;
        std::vector<Part> parts;
        add_row(row, {}, parts);
        const Part sum = make_sum(std::move(parts));
        for (const int place : places) {
            const Rational sign = sign_of(row.front().second) * sign_of(rows[place].front().second);
            planes.parts[place].push_back(scaled({{}, sign}, sum, along(axis, place)));
        }
    }
}

SumWriter::Term SumWriter::term(const SumPlan::Part& part, const Offset& at) {
    const Offset where = at + part.shift;
    const ExprId value = part.value ? this->value(*part.value, where) : builder_.access(field_, time_, where);
    const bool is_negative = part.weight.scale.is_negative();
    if (part.weight.is_sign()) return {value, is_negative};
    const Rational size = abs(part.weight.scale);
    ExprId weight = part.weight.factor ? *part.weight.factor : builder_.constant(size, type_);
    if (part.weight.factor && size != Rational(1))
        weight = builder_.binary(BinaryOp::mul, builder_.constant(size, type_), weight);
    return {builder_.binary(BinaryOp::mul, weight, value), is_negative};
}

ExprId SumWriter::value(const SumPlan& plan, const Offset& at) {
    const auto known = known_.find({&plan, at});
    if (known != known_.end()) return known->second;
    std::vector<Term> terms;
    for (const SumPlan::Part& part : plan.parts)
        terms.push_back(term(part, at));
    const ExprId made = added_up(builder_, std::move(terms));
    known_.emplace(std::pair(&plan, at), made);
    return made;
}

ExprId added_up(ExprBuilder& builder, std::vector<SumWriter::Term> terms) {
    auto first = std::find_if(terms.begin(), terms.end(), [](const auto& term) { return !term.is_negative; });
    if (first != terms.end()) std::rotate(terms.begin(), first, first + 1);
    ExprId sum = terms.front().value;
    if (terms.front().is_negative) sum = builder.unary(UnaryOp::negate, sum);
    for (std::size_t i = 1; i < terms.size(); ++i)
        sum = builder.binary(terms[i].is_negative ? BinaryOp::sub : BinaryOp::add, sum, terms[i].value);
    return sum;
}

}  // namespace halo::passes
