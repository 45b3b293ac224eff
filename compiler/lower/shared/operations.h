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

// Whether the node itself is a division or a function that takes many instructions.
bool takes_long(const ir::Expr& expr);

}  // namespace halo::lower
