#include "compiler/sema/solve_methods.h"

#include <algorithm>
#include <optional>

#include "compiler/sema/hidden_fields.h"
#include "compiler/sema/statement_writer.h"

namespace halo::sema {

using ir::BinaryOp;
using ir::FieldId;

const SolveMethod* find_solve_method(std::string_view name) {
    const auto* const found = std::ranges::find(kSolveMethods, name, &SolveMethod::name);
    return found == std::end(kSolveMethods) ? nullptr : found;
}

// Conjugate gradients (Hestenes and Stiefel 1952), with the diagonal as preconditioner where it differs from
// cell to cell.
std::vector<ExchangedFields> solve_by_cg(Evaluator& evaluator, const Equation& equation, SolveCounts counts) {
    StatementWriter write(evaluator, equation);
    const FieldId u = equation.unknown, p = equation.direction;
    const auto [size, r] = write.begin();
    std::optional<FieldId> inverse;
    const Value diagonal = equation.form.diagonal();
    if (!diagonal.is_uniform()) {
        inverse = write.let("inverse");
        write.assign(*inverse, write.div(write.number(1), diagonal));
    }
    const auto scaled = [&](const Value& value) {
        return inverse ? write.mul(write.read(*inverse), value) : value;
    };
    write.assign(p, scaled(write.read(r)));

    write.begin_repeat(counts);
    const FieldId q = write.let("image");
    write.assign(q, equation.of_direction);
    const Value pq = write.sum_of("curvature", write.read(p), write.read(q));
    const Value rz = write.sum_of("before", write.read(r), scaled(write.read(r)));
    const Value by_diagonal = write.sum_of("scale", write.mul(diagonal, write.read(p)), write.read(p));
    const Value goes_on = write.is_definite(pq, by_diagonal);
    const Value alpha = write.choose(goes_on, write.div(rz, pq), write.number(0));
    const FieldId next_u = write.next_of(u), next_r = write.next_of(r), next_p = write.next_of(p);
    write.assign(next_u, write.add(write.read(u), write.mul(alpha, write.read(p))));
    write.assign(next_r, write.sub(write.read(r), write.mul(alpha, write.read(q))));
    const Value next_rz = write.sum_of("after", write.read(next_r), scaled(write.read(next_r)));
    const Value rest = write.norm_of("rest", write.read(next_r));
    const Value beta = write.quotient(next_rz, rz);
    const Value turned = write.add(scaled(write.read(next_r)), write.mul(beta, write.read(p)));
    write.assign(next_p, write.choose(goes_on, turned, write.read(p)));
    std::vector<ExchangedFields> exchanged = write.end_iteration({{p, next_p}, {r, next_r}, {u, next_u}});
    write.end_repeat(rest, size);
    return exchanged;
}

// Stabilised biconjugate gradients (van der Vorst 1992).
std::vector<ExchangedFields> solve_by_bicgstab(Evaluator& evaluator, const Equation& equation,
                                               SolveCounts counts) {
    StatementWriter write(evaluator, equation);
    const FieldId u = equation.unknown, p = equation.direction;
    const auto [size, r] = write.begin();
    const FieldId shadow = write.let("shadow");
    write.assign(shadow, write.read(r));
    write.assign(p, write.read(r));

    write.begin_repeat(counts);
    const FieldId v = write.let("image");
    write.assign(v, equation.of_direction);
    const Value along = write.sum_of("along", write.read(shadow), write.read(v));
    const Value rho = write.sum_of("before", write.read(shadow), write.read(r));
    const Value alpha = write.quotient(rho, along);
    const FieldId s = write.let_with_boundary("half");
    make_homogeneous(evaluator, s);
    write.assign(s, write.sub(write.read(r), write.mul(alpha, write.read(v))));
    const FieldId t = write.let("image_of_half");
    write.assign(t, equation.apply(s, 0));
    const Value ts = write.sum_of("across", write.read(t), write.read(s));
    const Value tt = write.sum_of("length", write.read(t), write.read(t));
    const Value omega = write.quotient(ts, tt);
    const FieldId next_u = write.next_of(u), next_r = write.next_of(r), next_p = write.next_of(p);
    const Value first = write.add(write.read(u), write.mul(alpha, write.read(p)));
    write.assign(next_u, write.add(first, write.mul(omega, write.read(s))));
    write.assign(next_r, write.sub(write.read(s), write.mul(omega, write.read(t))));
    const Value next_rho = write.sum_of("after", write.read(shadow), write.read(next_r));
    const Value rest = write.norm_of("rest", write.read(next_r));
    const Value beta = write.mul(write.quotient(next_rho, rho), write.quotient(alpha, omega));
    const Value turned = write.sub(write.read(p), write.mul(omega, write.read(v)));
    write.assign(next_p, write.add(write.read(next_r), write.mul(beta, turned)));
    std::vector<ExchangedFields> exchanged = write.end_iteration({{p, next_p}, {r, next_r}, {u, next_u}});
    write.end_repeat(rest, size);
    return exchanged;
}

// Elimination along each line (Thomas 1949). What the boundary makes of the cells at the ends belongs to
// their own factors.
std::vector<ExchangedFields> solve_tridiagonal(Evaluator& evaluator, const Equation& equation,
                                               SolveCounts counts) {
    StatementWriter write(evaluator, equation);
    Arithmetic& arithmetic = evaluator.arithmetic();
    const int axis = equation.axis;
    ir::Offset step{};
    step[static_cast<std::size_t>(axis)] = 1;
    ir::Offset back{};
    back[static_cast<std::size_t>(axis)] = -1;
    Value lower = equation.form.factor(back), own = equation.form.diagonal(),
          upper = equation.form.factor(step);
    const Value read_below = lower, read_above = upper;
    const Value length = evaluator.length(axis, equation.where);
    const Value index = arithmetic.leaf(
        arithmetic.compute_type(), ir::Coordinate{ir::CoordinateKind::index, axis}, false, equation.where);
    for (int side = 0; side < 2; ++side) {
        const Value& factor = side == 0 ? read_below : read_above;
        const Value last = side == 0 ? write.number(0) : write.sub(length, write.number(1));
        const Value is_edge = write.is(BinaryOp::equal, index, last);
        for (const GhostTerm& term : ghost_terms(evaluator, equation.direction, axis, side, 1)) {
            const Value share = write.mul(factor, term.weight);
            Value& inward = side == 0 ? upper : lower;
            if (term.cell == 0) {
                own = write.choose(is_edge, write.add(own, share), own);
                continue;
            }
            // A line of one cell is mirrored to itself.
            const Value is_alone = write.is(BinaryOp::equal, length, write.number(1));
            own =
                write.choose(write.is(BinaryOp::logical_and, is_edge, is_alone), write.add(own, share), own);
            inward = write.choose(is_edge, write.add(inward, share), inward);
        }
    }
    Value right = equation.right;
    if (equation.has_given_values) right = write.sub(right, write.of_boundary());
    const FieldId above = write.output("above"), found = write.output("found");
    for (const FieldId field : {above, found}) {  // nothing before the first cell, and behind the last
        const ir::ExprId zero =
            arithmetic.as(write.number(0), evaluator.program()[field].type, equation.where);
        for (ir::Face& face : evaluator.program().fields[field.index].boundary[axis])
            face = {ir::BoundaryKind::fixed, zero, {}, 0};
    }
    const ir::LineSweep up{axis, true, counts.sweeps++, true}, down{axis, false, counts.sweeps++, true};
    const Value pivot = write.sub(own, write.mul(lower, write.read(above, back)));
    write.assign(above, write.div(upper, pivot), up);
    write.assign(found, write.div(write.sub(right, write.mul(lower, write.read(found, back))), pivot), up);
    write.assign(found, write.sub(write.read(found), write.mul(write.read(above), write.read(found, step))),
                 down);
    write.assign(equation.unknown, write.read(found));
    return {};
}

}  // namespace halo::sema
