// Arithmetic on constants is exact and rounded once, where it meets something that is no constant.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::ir {

// Numbers longer than this many bits are no longer followed exactly: from there on arithmetic rounds.
inline constexpr std::size_t kMaxExactBits = 4096;

// The exact value of a node whose operands have these exact values, in order; booleans are 0 and 1. nullopt
// where an operand has none, where the result is no rational number (sqrt, x/0) or too long.
std::optional<Rational> exact_value(const Expr& expr, const std::vector<std::optional<Rational>>& operands);

// By expression: the exact value of those that are built from constants alone.
std::vector<std::optional<Rational>> exact_values(const Program& program);

}  // namespace halo::ir
