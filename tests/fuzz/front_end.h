// What must hold for any text that is given to the front end.
#pragma once

#include <string>
#include <string_view>

namespace halo::fuzz {

// Reads, checks, reports and formats a text. Empty where all promises are kept, else the one that is not. A
// crash, a hang or a sanitizer's finding is for the caller's harness to see.
std::string broken_promise(std::string_view text);

}  // namespace halo::fuzz
