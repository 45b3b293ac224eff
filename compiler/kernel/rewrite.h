// Expressions and statements anew, with other operands.
#pragma once

#include <functional>

#include "compiler/kernel/program.h"

namespace halo::kernel {

// The node with what `change` makes of each operand; the expression itself where all stay as they are.
Expr with_operands(const Expr& expr, const std::function<Expr(const Expr&)>& change);
// The statement with what `change` makes of each of its expressions; blocks inside it stay as they are.
Statement with_exprs(const Statement& statement, const std::function<Expr(const Expr&)>& change);

// Whether two expressions are the same text.
bool same(const Expr& a, const Expr& b);

// All variables of these names as something else, in a block and all that is in it. Sums and comparisons of
// integers are simplified as build.h does it.
Block with_variables(const Block& body, const std::function<Expr(const Variable&, Type)>& change);
// The same of what a thread knows of its place: threadIdx, blockIdx, gridDim.
Block with_builtins(const Block& body, const std::function<Expr(Builtin)>& change);

}  // namespace halo::kernel
