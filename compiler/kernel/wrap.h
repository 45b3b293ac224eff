// Breaking long lines of emitted text the way clang-format does: after an operator or a comma, continuation
// aligned with the innermost open parenthesis, or indented by four.
#pragma once

#include <string>

namespace halo::kernel {

inline constexpr std::size_t kColumnLimit = 110;

bool fits(const std::string& text, int indent);
std::string wrap_line(const std::string& text, int indent);     // with its newline(s)
std::string wrap_comment(const std::string& text, int indent);  // "// …", wrapped at blanks

}  // namespace halo::kernel
