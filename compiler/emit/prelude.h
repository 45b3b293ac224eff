// The small device prelude: helpers that kernels call, each printed only where it is used.
#pragma once

#include <string>

namespace halo::emit {

// The text of the files prelude*.cuh: sections, each headed by a line `//
// [name]`.
extern const char* const kPrelude;

// One section's text without its heading. Sections `NAME cpu` take the place of `NAME` in text for CPUs.
std::string prelude_section(const std::string& name);
bool has_prelude_section(const std::string& name);

}  // namespace halo::emit
