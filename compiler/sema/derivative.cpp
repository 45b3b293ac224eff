// Derivatives by differences with exact weights (ir/finite_difference.h). Offsets come in pairs, as in a
// textbook: it takes half the multiplications, and odd derivatives lose fewer digits.
//
//   d(u, x)        sum over r = 1, 2, … of (w[r] / spacing) * (u[x+r] - u[x-r])
//   d2(u, x)       (w[0] / spacing^2) * u, then for r = 1, 2, … + (w[r] / spacing^2) * (u[x-r] + u[x+r])
//   d(u, x, y)     d(d(u, x), y); an axis that is named n times is derived n times at once
//   laplacian(u)   (the centre weights of all axes, summed) * u, then the pairs of each axis in declaration
//   order
//
// Where the statement lies half a cell from the operand along an axis that is derived, the pairs are those at
// ±1/2, ±3/2, … from it; interpolate(u, x) is the same for the value itself. One-sided differences have no
// pairs.
//
// Where the spacing differs from cell to cell, stretched.cpp does the same with weights of its own.
//
// Terms are added from left to right. The operand is any expression: it is taken at the neighbour, its
// boundary with it. Where the spacing is constant the quotient is exact and rounds once; else it is uniform
// and computed in f64 on the host.
#include <fmt/format.h>

#include "compiler/sema/evaluator.h"

namespace halo::sema {

using ir::BinaryOp;

Value Evaluator::spacing_power(const Value& operand, int axis, int exponent, SourceRange where) {
    const std::optional<int> grid = grid_of_operand(operand, axis, where);
    if (!grid) return Value();
    return arithmetic_.power(width_of_cells(*grid, axis, where), Value::of(Rational(exponent)), where);
}

Value Evaluator::shifted(const Value& operand, int axis, int distance, SourceRange where) {
    ir::Offset offset{};
    offset[axis] = distance;
    return arithmetic_.shift(operand, offset, where, [this](const ir::Access& access, SourceRange range) {
        return accept(access, range);
    });
}

// Cached: most programs use the same few derivatives everywhere.
const std::vector<ir::Tap>& Evaluator::difference(int derivative, std::int64_t accuracy, bool is_staggered) {
    std::vector<ir::Tap>& taps = differences_[{derivative, accuracy, is_staggered}];
    if (taps.empty()) {
        const int order = static_cast<int>(accuracy);
        taps = is_staggered ? ir::staggered_difference(derivative, order)
                            : ir::centred_difference(derivative, order);
    }
    return taps;
}

Value Evaluator::add_term(const std::optional<Value>& sum, const Value& weight, const Value& factor,
                          SourceRange where) {
    if (sum && weight.is_number() && weight.number == Rational(-1))
        return arithmetic_.generated(BinaryOp::sub, *sum, factor, where);
    const Value term = arithmetic_.generated(BinaryOp::mul, weight, factor, where);
    return sum ? arithmetic_.generated(BinaryOp::add, *sum, term, where) : term;
}

// sum + the pairs of one axis, r ascending; `taps` are symmetric, about the operand's point or about the
// point half a cell away where that is wanted.
Value Evaluator::add_pairs(std::optional<Value> sum, const std::vector<ir::Tap>& taps, const Value& operand,
                           const Pairs& pairs, SourceRange where) {
    const Value width = spacing_power(operand, pairs.axis, pairs.derivative, where);
    const bool is_odd = pairs.derivative % 2 == 1;
    for (const ir::Tap& tap : taps) {
        if (tap.offset <= 0) continue;
        // Staggered: from half a cell up, the r-th point above is r cells further; from a whole point, r - 1.
        const int above_by = tap.offset - (pairs.is_staggered && !pairs.to_half ? 1 : 0);
        const int below_by = tap.offset - (pairs.is_staggered && pairs.to_half ? 1 : 0);
        Value below = shifted(operand, pairs.axis, -below_by, where);
        Value above = shifted(operand, pairs.axis, above_by, where);
        if (pairs.is_staggered) {
            below.position = below.position.moved_to(pairs.axis, pairs.to_half);
            above.position = above.position.moved_to(pairs.axis, pairs.to_half);
        }
        const Value pair = is_odd ? arithmetic_.generated(BinaryOp::sub, above, below, where)
                                  : arithmetic_.generated(BinaryOp::add, below, above, where);
        const Value weight = arithmetic_.generated(BinaryOp::div, Value::of(tap.weight), width, where);
        sum = add_term(sum, weight, pair, where);
        if (sum->is_poison()) return Value();
    }
    return *sum;
}

// The weight of the cell itself, over the spacing to the power of the derivative's order.
Value Evaluator::centre_weight(const std::vector<ir::Tap>& taps, const Value& operand, int axis,
                               int derivative, SourceRange where) {
    for (const ir::Tap& tap : taps) {
        if (tap.offset != 0) continue;
        const Value width = spacing_power(operand, axis, derivative, where);
        return arithmetic_.generated(BinaryOp::div, Value::of(tap.weight), width, where);
    }
    return Value::of(Rational(0));
}

Value Evaluator::differentiate(const Value& operand, int axis, int derivative, std::int64_t accuracy,
                               SourceRange where) {
    if (operand.is_poison()) return operand;
    if (operand.has_parts()) {
        return map_at_parts(operand, [&](const Value& part) {
            return differentiate(part, axis, derivative, accuracy, where);
        });
    }
    if (operand.is_uniform()) return Value::of(Rational(0));
    Pairs pairs{axis, derivative};
    pairs.to_half = (wanted_ & axis_bit(axis)) != 0;
    const bool is_placed = (operand.position.fixed & axis_bit(axis)) != 0;
    pairs.is_staggered = is_placed && operand.position.is_half(axis) != pairs.to_half;
    if (is_stretched(axis)) return stretched_pairs(operand, pairs, accuracy, where);
    made_differences_.insert({derived_where_, axis, derivative, accuracy, 0, 0, pairs.is_staggered});
    const std::vector<ir::Tap>& taps = difference(derivative, accuracy, pairs.is_staggered);
    std::optional<Value> sum;
    if (derivative % 2 == 0 && !pairs.is_staggered) {
        sum = arithmetic_.generated(BinaryOp::mul, centre_weight(taps, operand, axis, derivative, where),
                                    operand, where);
    }
    return add_pairs(sum, taps, operand, pairs, where);
}

Value Evaluator::interpolated(const Value& operand, int axis, std::int64_t accuracy, SourceRange where) {
    if (operand.has_parts())
        return map_parts(operand,
                         [&](const Value& part) { return interpolated(part, axis, accuracy, where); });
    const bool is_placed = operand.is_expr() && (operand.position.fixed & axis_bit(axis)) != 0;
    if (!is_placed) return operand;  // the same half a cell further
    Pairs pairs{axis, 0};
    pairs.is_staggered = true;
    pairs.to_half = !operand.position.is_half(axis);
    if (is_stretched(axis)) return stretched_pairs(operand, pairs, accuracy, where);
    made_differences_.insert({derived_where_, axis, 0, accuracy, 0, 0, true});
    return add_pairs(std::nullopt, difference(0, accuracy, true), operand, pairs, where);
}

// The nodes nearest to the point on one side of it (side < 0: low), itself among them where it is one.
// `beyond` nodes of them lie on the other side.
Value Evaluator::one_sided(const Value& operand, const OneSided& form, SourceRange where) {
    if (operand.is_poison()) return operand;
    if (operand.has_parts())
        return map_at_parts(operand, [&](const Value& part) { return one_sided(part, form, where); });
    if (operand.is_uniform()) return Value::of(Rational(0));
    const bool to_half = (wanted_ & axis_bit(form.axis)) != 0;
    const bool is_placed = (operand.position.fixed & axis_bit(form.axis)) != 0;
    const bool is_staggered = is_placed && operand.position.is_half(form.axis) != to_half;
    const int count = form.derivative + static_cast<int>(form.accuracy);
    std::vector<Rational> nodes;
    std::vector<int> elements;
    for (int i = -form.beyond; i < count - form.beyond; ++i) {
        const int step = form.side < 0 ? -i : i;
        if (!is_staggered) {
            nodes.emplace_back(std::int64_t{step});
            elements.push_back(step);
        } else {
            const Rational half(form.side < 0 ? -1 : 1, 2);
            nodes.push_back(Rational(std::int64_t{step}) + half);
            // From a whole point the first element above is the cell's own, the first below the one before.
            elements.push_back(step + (form.side < 0 ? (to_half ? 0 : -1) : (to_half ? 1 : 0)));
        }
    }
    if (is_stretched(form.axis))
        return stretched_difference(
            operand, {form.axis, form.derivative, elements, form.beyond, is_staggered, to_half}, where);
    made_differences_.insert(
        {derived_where_, form.axis, form.derivative, form.accuracy, form.side, form.beyond, is_staggered});
    const std::vector<Rational> weights = ir::difference_weights(form.derivative, nodes);
    const Value width = spacing_power(operand, form.axis, form.derivative, where);
    std::optional<Value> sum;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        Value node = shifted(operand, form.axis, elements[i], where);
        if (is_staggered) node.position = node.position.moved_to(form.axis, to_half);
        const Value weight = arithmetic_.generated(BinaryOp::div, Value::of(weights[i]), width, where);
        sum = add_term(sum, weight, node, where);
        if (sum->is_poison()) return Value();
    }
    return *sum;
}

Value Evaluator::laplacian(const Value& operand, std::int64_t accuracy, SourceRange where) {
    if (operand.is_poison()) return operand;
    if (operand.has_parts())
        return map_parts(operand, [&](const Value& part) { return laplacian(part, accuracy, where); });
    if (operand.is_uniform()) return Value::of(Rational(0));
    const std::vector<ir::Tap>& taps = difference(2, accuracy, false);
    Value centre = Value::of(Rational(0));
    for (int axis = 0; axis < symbols_.rank(); ++axis) {
        if (is_stretched(axis)) continue;
        centre =
            arithmetic_.generated(BinaryOp::add, centre, centre_weight(taps, operand, axis, 2, where), where);
    }
    Value sum = arithmetic_.generated(BinaryOp::mul, centre, operand, where);
    for (int axis = 0; axis < symbols_.rank() && !sum.is_poison(); ++axis) {
        Pairs pairs{axis, 2};
        if (is_stretched(axis)) {
            pairs.to_half = operand.position.is_half(axis);
            const Value along = stretched_pairs(operand, pairs, accuracy, where);
            sum = arithmetic_.generated(BinaryOp::add, sum, along, where);
            continue;
        }
        made_differences_.insert({derived_where_, axis, 2, accuracy, 0, 0, false});
        sum = add_pairs(sum, taps, operand, pairs, where);
    }
    return sum;
}

}  // namespace halo::sema
