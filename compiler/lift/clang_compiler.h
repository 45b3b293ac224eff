// How a source is given to Clang: with the arguments of its own build, and with headers that stand in for
// CUDA's and others. For clang_*.cpp.
#pragma once

#include <clang/Frontend/CompilerInstance.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>
#include <string>

#include "compiler/lift/clang_front.h"

namespace halo::lift {

// Whether a header is one that is read in place of a library's own.
bool is_stand_in(const std::string& file);
bool is_cuda(const SourceRequest& request);

enum class Mode { read, compile };

// A compiler that is ready to run an action; its messages go to `messages`. replacement: a text in the place
// of the file's; null: the file's own. Throws SourceError.
std::unique_ptr<clang::CompilerInstance> make_compiler(const SourceRequest& request, Mode mode,
                                                       const std::string* replacement,
                                                       llvm::raw_string_ostream& messages);

}  // namespace halo::lift
