// Building kernel expressions. Integer arithmetic is simplified on the way (no `+ 0`, no `* 1`, literals
// folded), so that index expressions come out as one would write them; real arithmetic is never touched.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/kernel/program.h"

namespace halo::kernel {

Expr int_literal(std::int64_t value, Type type = Type::i32);
Expr real_literal(double value, Type type);
Expr variable(std::string name, Type type);
Expr builtin(Builtin builtin);
Expr thread_index(int axis);  // threadIdx.x, .y, .z
Expr block_index(int axis);
Expr element(std::string array, std::vector<Expr> indices, Type type);
Expr address_of(std::string array, Expr index, Type type, std::vector<Expr> rows = {});
Expr convert(Expr operand, Type type);  // the operand itself where it has the type
Expr select(Expr condition, Expr then, Expr otherwise);
Expr call(Function function, std::vector<Expr> arguments, bool fast = false);
Expr call_lambda(std::string lambda, std::vector<Expr> arguments, Type type = Type::i32);
Expr call_helper(Helper helper, std::vector<Expr> arguments);  // one that has a value
Expr shuffle(Shuffle::From from, Expr operand, Expr index);
Expr logical_not(Expr operand);
// The operator as it stands: nothing is folded or written in another order. Arithmetic of one type.
Expr operation(Operator op, Expr left, Expr right);

Expr operator+(Expr left, Expr right);
Expr operator-(Expr left, Expr right);
Expr operator*(Expr left, Expr right);
Expr operator/(Expr left, Expr right);
Expr operator%(Expr left, Expr right);
Expr operator-(Expr operand);
Expr operator<(Expr left, Expr right);
Expr operator<=(Expr left, Expr right);
Expr operator>(Expr left, Expr right);
Expr operator>=(Expr left, Expr right);
Expr operator==(Expr left, Expr right);
Expr operator!=(Expr left, Expr right);
Expr operator&&(Expr left, Expr right);  // an empty operand is true
Expr operator||(Expr left, Expr right);  // an empty operand is false
Expr min(Expr left, Expr right);
Expr max(Expr left, Expr right);

// The literal's value, where the expression is one.
std::optional<std::int64_t> int_value(const Expr& expr);

}  // namespace halo::kernel
