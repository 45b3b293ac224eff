// Arithmetic on expressions of a program that is being made: what is trivially simpler is written so, since
// people read the result. Products with 0 and 1 go, constants are folded exactly, signs move outwards.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::adjoint {

class Algebra {
public:
    explicit Algebra(ir::Program& program) : program_(program), builder_(program) {}

    ir::Program& program() { return program_; }
    const ir::Program& program() const { return program_; }
    ir::ExprBuilder& builder() { return builder_; }

    ir::ExprId number(const Rational& value, ir::Scalar type) { return builder_.constant(value, type); }
    ir::ExprId read(ir::FieldId field, int time = 0, const ir::Offset& offset = {}) {
        return builder_.access(field, time, offset);
    }
    ir::ExprId add(ir::ExprId a, ir::ExprId b);
    ir::ExprId sub(ir::ExprId a, ir::ExprId b);
    ir::ExprId mul(ir::ExprId a, ir::ExprId b);
    ir::ExprId div(ir::ExprId a, ir::ExprId b);
    ir::ExprId negate(ir::ExprId a);
    ir::ExprId as(ir::ExprId a, ir::Scalar type);
    ir::ExprId select(ir::ExprId condition, ir::ExprId then, ir::ExprId otherwise);
    ir::ExprId is_not(ir::ExprId condition);
    ir::ExprId both(std::optional<ir::ExprId> a, ir::ExprId b);  // a and b
    ir::ExprId compare(ir::BinaryOp op, ir::ExprId a, ir::ExprId b) { return builder_.binary(op, a, b); }

    // idx(axis), and the place of a bound along it, in the program's compute type.
    ir::ExprId index(int axis);
    ir::ExprId place(const ir::Region::Bound& bound, int axis);

    std::optional<Rational> constant(ir::ExprId id) const;
    bool is_zero(ir::ExprId id) const;
    // The same in all cells: reads no field, no idx and no pos.
    bool is_same_in_all_cells(ir::ExprId id);
    // Whether a field is read in it.
    bool reads_field(ir::ExprId id);

private:
    bool has_number_first(ir::ExprId id) const;
    void look_up_to(ir::ExprId id);

    ir::Program& program_;
    ir::ExprBuilder builder_;
    std::vector<bool> varies_, reads_;  // by expression
};

}  // namespace halo::adjoint
