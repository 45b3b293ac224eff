// Modules of the compiler's own library as files, for editors to show.
#pragma once

#include <string>

namespace halo::lsp {

bool is_of_library(const std::string& path);  // "(library)/operators.halo"

// The path itself, or that of a copy in the cache's folder where it is of the library; empty: none can be
// kept.
std::string readable_path(const std::string& path);

}  // namespace halo::lsp
