// The one place that knows clang: text to an object file in memory.
#pragma once

#include <string>
#include <vector>

namespace halo::rt {

struct ClangInput {
    std::string file_name;
    std::string text;
    std::string prelude;             // included before the text where not empty
    std::vector<std::string> flags;  // of `clang -cc1`, besides those that name input, output and processor
};

struct ClangOutput {
    std::string object;     // empty where the text was refused
    std::string complaint;  // the first error: what it says
    int line = 0;           // and its line in the text; 0 where it is not in the text
};

ClangOutput run_clang(const ClangInput& input);

// "clang 19.1.7 x86_64-pc-linux-gnu znver4 +avx2 …": compiler and processor.
const std::string& clang_target_name();

}  // namespace halo::rt
