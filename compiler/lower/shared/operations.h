// Operations of the StencilProgram as operations of the KernelProgram.
#pragma once

#include "compiler/ir/program.h"
#include "compiler/kernel/build.h"

namespace halo::lower {

// rsqrt gives sqrt; the caller divides 1 by it.
kernel::Function function_of(ir::Function function);

// left op right. Not for min and max, whose result for NaN is the interpreter's, nor for the floored
// divisions of integers.
kernel::Expr applied(ir::BinaryOp op, const kernel::Expr& left, const kernel::Expr& right);

}  // namespace halo::lower
