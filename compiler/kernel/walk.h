// Visiting every statement and expression of a kernel program.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "compiler/kernel/program.h"

namespace halo::kernel {

// visit(statement) for each statement of a block and of the blocks inside it, outer ones first.
void for_each_statement(const Block& block, const std::function<void(const Statement&)>& visit);

// visit(expr) for each expression of the block, operands after their users. An operand that is
// missing is passed over.
void for_each_expr(const Block& block, const std::function<void(const Expr&)>& visit);
void for_each_expr(const Expr& expr, const std::function<void(const Expr&)>& visit);

// All that a function declares: its parameters, constants, variables, arrays and lambdas.
std::set<std::string> names_in(const KernelFunction& function);
// The variables that the block reads or writes, its own and others.
std::set<std::string> variables_in(const Block& block);

}  // namespace halo::kernel
