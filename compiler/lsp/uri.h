// file:// URIs and paths.
#pragma once

#include <string>
#include <string_view>

namespace halo::lsp {

// Empty where the URI is not that of a file, such as "untitled:1".
std::string path_of(std::string_view uri);
std::string uri_of(std::string_view path);  // of an absolute path

}  // namespace halo::lsp
