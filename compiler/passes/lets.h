// What passes ask of each `let` before they put something else in the place of its reads.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::passes {

struct LetUse {
    // The value that one statement gives it, for all cells at once and in each step.
    std::optional<ir::ExprId> value;
    // All that read it are statements for all cells at once, none of a sweep or repeat, and none reads it by
    // a map.
    bool has_plain_readers = true;
    ir::Margins reach{};  // how far statements read it, by axis and side
};

// Of each field of the program, by its index; value is that of lets alone.
std::vector<LetUse> uses_of_lets(const ir::Program& program);

}  // namespace halo::passes
