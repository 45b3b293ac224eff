// Integer arithmetic that wraps around, in C++ and CUDA, where signed overflow is undefined. Where the ranges
// of the operands exclude overflow the plain operator is used, else a helper of the prelude.
#pragma once

#include <map>

#include "compiler/ir/program.h"
#include "compiler/ir/range.h"
#include "compiler/kernel/program.h"

namespace halo::lower {

using ir::Range;

class Integers {
public:
    explicit Integers(const ir::Program& program) : program_(program) {}

    Range range(ir::ExprId id);  // `id` is an integer or boolean

    // The operation `id`, a Binary, negate or abs of integers, on its lowered operands.
    kernel::Expr binary(ir::ExprId id, kernel::Expr left, kernel::Expr right);
    kernel::Expr negate(ir::ExprId id, kernel::Expr operand);
    kernel::Expr absolute(ir::ExprId id, kernel::Expr operand);

private:
    struct Exact {
        Range range;  // before it wraps around
        bool fits = true;
    };
    Exact exact(ir::ExprId id);
    Range compute(ir::ExprId id);
    Range of_field(ir::FieldId field, const Range& all);

    const ir::Program& program_;
    std::map<std::uint32_t, Range> known_;
};

}  // namespace halo::lower
