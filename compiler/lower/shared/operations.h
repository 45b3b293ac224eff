// The kernel IR's words for operations of the IR.
#pragma once

#include "compiler/ir/program.h"
#include "compiler/kernel/build.h"

namespace halo::lower {

// rsqrt is sqrt: what divides 1 by it is the caller.
kernel::Function function_of(ir::Function function);

// left op right. Not for min and max, which take the interpreter's choice where an operand is NaN, nor for
// the floored divisions of integers.
kernel::Expr applied(ir::BinaryOp op, const kernel::Expr& left, const kernel::Expr& right);

}  // namespace halo::lower
