// Clang's tree to plain data. For clang_front.cpp alone.
#pragma once

#include "compiler/lift/c_code.h"

namespace clang {
class ASTContext;
class FunctionDecl;
}  // namespace clang

namespace halo::lift {

// The function and all that it uses: variables, types, functions that it calls whose bodies are known.
c::Unit translate(clang::ASTContext& context, const clang::FunctionDecl& function);

}  // namespace halo::lift
