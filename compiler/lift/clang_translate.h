// Clang's tree to plain data. For clang_front.cpp alone.
#pragma once

#include <string>

#include "compiler/lift/c_code.h"

namespace clang {
class ASTContext;
class FunctionDecl;
}  // namespace clang

namespace halo::lift {

// The function and all that it uses: variables, types, functions that it calls whose bodies are known.
// file_name: of the main file, as the user calls it.
c::Unit translate(clang::ASTContext& context, const clang::FunctionDecl& function,
                  const std::string& file_name);

}  // namespace halo::lift
