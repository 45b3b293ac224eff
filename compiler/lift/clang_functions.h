// The functions of Clang's tree: all, one by its name, and how kernels are launched; for clang_front.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace clang {
class ASTContext;
class DeclContext;
class FunctionDecl;
class Stmt;
}  // namespace clang

namespace halo::lift {

using FunctionVisit = std::function<void(clang::FunctionDecl& function, bool is_template)>;
// All functions of the file and of what it includes, in order; those of templates as they are used.
void for_functions(clang::DeclContext& context, const FunctionVisit& visit);

// The function that is asked for; else why there is none.
clang::FunctionDecl* find_function(clang::ASTContext& context, const std::string& name,
                                   const std::string& file, std::string& trouble);

// Whether a kernel is launched in a statement.
bool has_launch(const clang::Stmt* statement);

using BlockSize = std::array<std::int64_t, 3>;
// How the file launches a kernel, wherever it does.
struct KernelLaunch {
    std::optional<BlockSize> block;  // its threads; nothing where that is not the same or not known
    // By axis, of launches of whole blocks: which argument is the number of all threads; -1: none.
    std::array<int, 3> counts{-1, -1, -1};
};
KernelLaunch launch_of(clang::ASTContext& context, const clang::FunctionDecl& kernel);

}  // namespace halo::lift
