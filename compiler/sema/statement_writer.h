// Writes the statements of a method of `solve`, as a text of the language would.
#pragma once

#include <optional>
#include <string>

#include "compiler/sema/solve_methods.h"

namespace halo::sema {

class StatementWriter {
public:
    StatementWriter(Evaluator& evaluator, const Equation& equation)
        : evaluator_(evaluator),
          arithmetic_(evaluator.arithmetic()),
          program_(evaluator.program()),
          equation_(equation) {}

    // ---- values
    static Value number(int value) { return Value::of(Rational(value)); }
    Value add(const Value& a, const Value& b) { return binary(ir::BinaryOp::add, a, b); }
    Value sub(const Value& a, const Value& b) { return binary(ir::BinaryOp::sub, a, b); }
    Value mul(const Value& a, const Value& b) { return binary(ir::BinaryOp::mul, a, b); }
    Value div(const Value& a, const Value& b) { return binary(ir::BinaryOp::div, a, b); }
    Value is(ir::BinaryOp op, const Value& a, const Value& b) { return binary(op, a, b); }
    Value choose(const Value& condition, const Value& then, const Value& otherwise) {
        return arithmetic_.select(condition, then, otherwise, equation_.where);
    }
    // 0 where the divisor is 0: an iteration goes on as it is.
    Value quotient(const Value& above, const Value& below);
    // Whether what the operator has for a direction, beside what its diagonal has, is that of an operator
    // that is definite, whatever its sign. Where it is not, by rounding, an iteration stays where it is.
    Value is_definite(const Value& curvature, const Value& by_diagonal);
    Value magnitude(const Value& value);
    // map: to the cells of another grid, of which the offset counts
    Value read(ir::FieldId field, const ir::Offset& offset = {}, const ir::GridMap& map = {});

    // ---- fields, like the unknown
    ir::FieldId output(const std::string& name) { return add_field(name, ir::Role::output, false); }
    ir::FieldId output_with_boundary(const std::string& name) {
        return add_field(name, ir::Role::output, true);
    }
    ir::FieldId let(const std::string& name) { return add_field(name, ir::Role::intermediate, false); }
    ir::FieldId let_with_boundary(const std::string& name) {
        return add_field(name, ir::Role::intermediate, true);
    }
    ir::FieldId next_of(ir::FieldId field);

    // ---- statements
    void assign(ir::FieldId field, const Value& value, std::optional<ir::LineSweep> sweep = {});
    // Sums in f64, in which their terms are computed, too.
    Value sum_of(const std::string& name, const Value& a, const Value& b) {
        return reduce(name, mul(wide(a), wide(b)), false);
    }
    Value norm_of(const std::string& name, const Value& value) {
        return reduce(name, mul(wide(value), wide(value)), true);
    }
    // The statements from here to end_repeat() are done again and again.
    void begin_repeat(SolveCounts counts) { repeat_ = ir::Repeat{counts.repeats++, equation_.most}; }
    // … until the norm of what is left is within the tolerance, by the size of the right-hand side.
    void end_repeat(const Value& rest, const Value& size);
    // At the end of an iteration each field takes the value of the other. What is read past the faces of is
    // known last: after it all levels are exchanged, and nothing is copied.
    std::vector<ExchangedFields> end_iteration(const std::vector<ExchangedFields>& fields);

    // ---- the equation
    // What A gives of the values past faces alone.
    Value of_boundary();
    // Where iterations begin: the unknown, and what is left of the right-hand side with it.
    struct Beginning {
        Value
            size;  // the norm of what A is to give without the values past faces; where 0, so is the solution
        ir::FieldId residual;
    };
    Beginning begin();

    Evaluator& evaluator() { return evaluator_; }
    const Equation& equation() const { return equation_; }

private:
    Value size_of_right();
    // The values of before, or 0 where these are none; 0, too, where that is the solution.
    void begin_unknown(const Value& size);
    int time_of(ir::FieldId field) const { return field == equation_.unknown ? equation_.time : 0; }
    Value binary(ir::BinaryOp op, const Value& a, const Value& b) {
        return arithmetic_.generated(op, a, b, equation_.where);
    }
    Value wide(const Value& value) { return arithmetic_.convert(value, ir::Scalar::f64, equation_.where); }
    std::string full_name(const std::string& name) const;
    ir::FieldId add_field(const std::string& name, ir::Role role, bool with_boundary);
    Value reduce(const std::string& name, const Value& value, bool is_norm);

    Evaluator& evaluator_;
    Arithmetic& arithmetic_;
    ir::Program& program_;
    const Equation& equation_;
    std::optional<ir::Repeat> repeat_;
};

}  // namespace halo::sema
