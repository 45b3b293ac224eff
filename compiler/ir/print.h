// A StencilProgram as text, for people and for tests that compare IR. The same program gives the same text.
// Not a .halo file: derivatives and sums are expanded, types and inferred facts are shown.
//
//   stencil heat(x, y)
//   axis x spacing 1 origin 0
//   param dt = 0.16
//   field u: f32 state, halo x 1 1 y 1 1, boundary x fixed(10) fixed(10) y free free
//
//   %1 = f32(lambda * dt)
//   u[t+1] = u + %1 * (u[x+1] - u)    margins y 1 1
//   reduce change = max(abs(u[t+1] - u))    margins y 1 1
//
// Operations that are used more than once get a number, in the order in which they are first needed; `f32(e)`
// rounds e to f32; parentheses show the order of evaluation wherever it is not left to right.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/program.h"

namespace halo::ir {

std::string print(const Program& program);

// One expression in infix form, nothing numbered.
std::string print(const Program& program, ExprId expr);

// The same with other words for some nodes, such as those of the language.
struct PrintWords {
    // The node that is printed in the place of one, such as a conversion's operand.
    std::function<ExprId(ExprId)> stands_for;
    // What a node is called; nullopt: it is written out. A text binds like a name.
    std::function<std::optional<std::string>(ExprId)> text;
};
std::string print(const Program& program, ExprId expr, const PrintWords& words);

// The words of the language for each alternative: "f32", "fixed", "state", "sqrt", "<=", "max".
std::string_view name_of(Scalar scalar);
std::string_view name_of(Storage storage);
std::string_view name_of(BoundaryKind kind);
std::string_view name_of(Role role);
std::string_view name_of(Function function);
std::string_view name_of(BinaryOp op);
std::string_view name_of(ReduceOp op);

}  // namespace halo::ir
