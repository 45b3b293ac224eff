// A program as C++ source to be linked in: its bundle, and its kernels for the CPU. Not for users.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/compiled_source.h"

namespace halocline::detail {

struct LinkedFiles {
    std::string header;  // STEM.h, C and C++: `STEM_program()`, `STEM_open()`
    std::string source;
};

// stem: of the files, a C identifier. spec: the file that it is made from, for comments. more: variants for
// GPUs.
LinkedFiles print_linked(const CheckedProgram& checked, const std::string& stem, const std::string& spec,
                         std::vector<Variant> more);

bool is_identifier(const std::string& word);

}  // namespace halocline::detail
