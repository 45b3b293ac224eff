#include "compiler/sema/solve_methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "compiler/sema/hidden_fields.h"

namespace halo::sema {

namespace {

using ir::BinaryOp;
using ir::FieldId;
using ir::Role;

// Writes statements as a text of the language would.
class StatementWriter {
public:
    StatementWriter(Evaluator& evaluator, const Equation& equation)
        : evaluator_(evaluator),
          arithmetic_(evaluator.arithmetic()),
          program_(evaluator.program()),
          equation_(equation) {}

    // ---- values
    static Value number(int value) { return Value::of(Rational(value)); }
    Value add(const Value& a, const Value& b) { return binary(BinaryOp::add, a, b); }
    Value sub(const Value& a, const Value& b) { return binary(BinaryOp::sub, a, b); }
    Value mul(const Value& a, const Value& b) { return binary(BinaryOp::mul, a, b); }
    Value div(const Value& a, const Value& b) { return binary(BinaryOp::div, a, b); }
    Value is(BinaryOp op, const Value& a, const Value& b) { return binary(op, a, b); }
    Value choose(const Value& condition, const Value& then, const Value& otherwise) {
        return arithmetic_.select(condition, then, otherwise, equation_.where);
    }
    // 0 where the divisor is 0: an iteration goes on as it is.
    Value quotient(const Value& above, const Value& below) {
        return choose(is(BinaryOp::not_equal, below, number(0)), div(above, below), number(0));
    }
    Value read(FieldId field, const ir::Offset& offset = {}) {
        return arithmetic_.leaf(program_[field].type, ir::Access{field, time_of(field), offset}, false,
                                equation_.where);
    }

    // ---- fields
    FieldId output(const std::string& name) { return add_field(name, Role::output, false); }
    FieldId let(const std::string& name) { return add_field(name, Role::intermediate, false); }
    FieldId let_with_boundary(const std::string& name) { return add_field(name, Role::intermediate, true); }
    FieldId next_of(FieldId field) {
        return add_field_like(evaluator_, field, program_[field].name + ".later" + equation_.suffix,
                              Role::intermediate, true);
    }
    int time_of(FieldId field) const { return field == equation_.unknown ? equation_.time : 0; }

    // ---- statements
    void assign(FieldId field, const Value& value, std::optional<ir::LineSweep> sweep = {}) {
        ir::Assign made;
        made.target = field;
        made.time = time_of(field);
        made.value = arithmetic_.as(value, program_[field].type, equation_.where);
        made.sweep = sweep;
        made.repeat = repeat_;
        made.where = equation_.where;
        program_.statements.emplace_back(made);
    }
    // Sums in f64, in which their terms are computed, too.
    Value sum_of(const std::string& name, const Value& a, const Value& b) {
        return reduce(name, mul(wide(a), wide(b)), false);
    }
    Value norm_of(const std::string& name, const Value& value) {
        return reduce(name, mul(wide(value), wide(value)), true);
    }
    // The statements from here to end_repeat() are done again and again.
    void begin_repeat(SolveCounts counts) { repeat_ = ir::Repeat{counts.repeats++, equation_.most}; }
    void end_repeat(const Value& until) {
        ir::RepeatEnd end;
        end.repeat = repeat_->number;
        end.until = arithmetic_.as(until, ir::Scalar::boolean, equation_.where);
        end.text =
            fmt::format("the residual of {} is within its tolerance", program_[equation_.unknown].name);
        end.where = equation_.where;
        program_.repeat_ends.push_back(std::move(end));
        repeat_.reset();
    }

    // The norm of what A is to give without the values past faces. Where it is 0, so is the solution.
    Value size_of_right() {
        Value right = equation_.right;
        if (equation_.has_given_values) right = sub(right, of_boundary());
        return norm_of("size", right);
    }
    // What A gives of the values past faces alone.
    Value of_boundary() {
        const FieldId zero = let_with_boundary("zero");
        assign(zero, number(0));
        return equation_.apply(zero, 0);
    }
    // The values of before, or 0 where these are none; 0, too, where that is the solution.
    void begin_unknown(const Value& size) {
        const FieldId unknown = equation_.unknown;
        if (equation_.time == 0 && !equation_.is_written) return assign(unknown, number(0));
        const Value before = equation_.is_written
                                 ? read(unknown)
                                 : arithmetic_.leaf(program_[unknown].type, ir::Access{unknown, 0, {}}, false,
                                                    equation_.where);
        assign(unknown, choose(is(BinaryOp::greater, size, number(0)), before, number(0)));
    }

    Evaluator& evaluator() { return evaluator_; }

private:
    Value binary(BinaryOp op, const Value& a, const Value& b) {
        return arithmetic_.generated(op, a, b, equation_.where);
    }
    Value wide(const Value& value) { return arithmetic_.convert(value, ir::Scalar::f64, equation_.where); }
    FieldId add_field(const std::string& name, Role role, bool with_boundary) {
        const std::string full =
            fmt::format("{}.{}{}", program_[equation_.unknown].name, name, equation_.suffix);
        return add_field_like(evaluator_, equation_.unknown, full, role, with_boundary);
    }
    Value reduce(const std::string& name, const Value& value, bool is_norm) {
        const auto index = std::ranges::count_if(program_.statements, [](const ir::Statement& each) {
            return std::holds_alternative<ir::Reduce>(each);
        });
        ir::Reduce made;
        made.name = fmt::format("{}.{}{}", program_[equation_.unknown].name, name, equation_.suffix);
        made.square_root = is_norm;
        made.value = arithmetic_.as(value, ir::Scalar::f64, equation_.where);
        made.repeat = repeat_;
        made.where = equation_.where;
        program_.statements.emplace_back(std::move(made));
        return arithmetic_.leaf(ir::Scalar::f64, ir::ReductionRef{{static_cast<std::uint32_t>(index)}}, true,
                                equation_.where);
    }

    Evaluator& evaluator_;
    Arithmetic& arithmetic_;
    ir::Program& program_;
    const Equation& equation_;
    std::optional<ir::Repeat> repeat_;
};

// The next direction is known last: after it all levels are exchanged, and nothing is copied.
std::vector<ExchangedFields> end_iteration(StatementWriter& write,
                                           const std::vector<ExchangedFields>& fields) {
    for (const auto& [field, next] : fields)
        write.assign(field, write.read(next));
    return fields;
}

}  // namespace

const SolveMethod* find_solve_method(std::string_view name) {
    const auto* const found = std::ranges::find(kSolveMethods, name, &SolveMethod::name);
    return found == std::end(kSolveMethods) ? nullptr : found;
}

// Conjugate gradients (Hestenes and Stiefel 1952), with the diagonal as preconditioner where it differs from
// cell to cell.
std::vector<ExchangedFields> solve_by_cg(Evaluator& evaluator, const Equation& equation, SolveCounts counts) {
    StatementWriter write(evaluator, equation);
    const FieldId u = equation.unknown, p = equation.direction;
    const Value size = write.size_of_right();
    write.begin_unknown(size);
    const FieldId r = write.output("residual");
    write.assign(r, write.sub(equation.right, equation.apply(u, equation.time)));
    std::optional<FieldId> inverse;
    const Value diagonal = equation.form.diagonal();
    const bool is_single = evaluator.program()[u].type == ir::Scalar::f32;
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
    // What the operator has for the direction beside what its diagonal has: of one that is definite above 0,
    // whatever its sign. Where it is not, by rounding, the iteration stays where it is.
    const Value by_diagonal = write.sum_of("scale", write.mul(diagonal, write.read(p)), write.read(p));
    const Value least = Value::of(is_single ? Rational(1, 100'000'000) : Rational(1, 100'000'000'000'000));
    const Value goes_on = write.is(BinaryOp::greater, write.quotient(pq, by_diagonal), least);
    const Value alpha = write.choose(goes_on, write.div(rz, pq), write.number(0));
    const FieldId next_u = write.next_of(u), next_r = write.next_of(r), next_p = write.next_of(p);
    write.assign(next_u, write.add(write.read(u), write.mul(alpha, write.read(p))));
    write.assign(next_r, write.sub(write.read(r), write.mul(alpha, write.read(q))));
    const Value next_rz = write.sum_of("after", write.read(next_r), scaled(write.read(next_r)));
    const Value rest = write.norm_of("rest", write.read(next_r));
    const Value beta = write.quotient(next_rz, rz);
    const Value turned = write.add(scaled(write.read(next_r)), write.mul(beta, write.read(p)));
    write.assign(next_p, write.choose(goes_on, turned, write.read(p)));
    std::vector<ExchangedFields> exchanged = end_iteration(write, {{p, next_p}, {r, next_r}, {u, next_u}});
    write.end_repeat(write.is(BinaryOp::less_equal, rest, write.mul(equation.tolerance, size)));
    return exchanged;
}

// Stabilised biconjugate gradients (van der Vorst 1992).
std::vector<ExchangedFields> solve_by_bicgstab(Evaluator& evaluator, const Equation& equation,
                                               SolveCounts counts) {
    StatementWriter write(evaluator, equation);
    const FieldId u = equation.unknown, p = equation.direction;
    const Value size = write.size_of_right();
    write.begin_unknown(size);
    const FieldId r = write.output("residual"), shadow = write.let("shadow");
    write.assign(r, write.sub(equation.right, equation.apply(u, equation.time)));
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
    std::vector<ExchangedFields> exchanged = end_iteration(write, {{p, next_p}, {r, next_r}, {u, next_u}});
    write.end_repeat(write.is(BinaryOp::less_equal, rest, write.mul(equation.tolerance, size)));
    return exchanged;
}

// Elimination along each line (Thomas 1949). What the boundary makes of the cells at the ends belongs to
// their own factors.
void solve_tridiagonal(Evaluator& evaluator, const Equation& equation, SolveCounts counts) {
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
    const ir::LineSweep up{axis, true, counts.sweeps++}, down{axis, false, counts.sweeps++};
    const Value pivot = write.sub(own, write.mul(lower, write.read(above, back)));
    write.assign(above, write.div(upper, pivot), up);
    write.assign(found, write.div(write.sub(right, write.mul(lower, write.read(found, back))), pivot), up);
    write.assign(found, write.sub(write.read(found), write.mul(write.read(above), write.read(found, step))),
                 down);
    write.assign(equation.unknown, write.read(found));
}

}  // namespace halo::sema
