// The pictures of a page. PNG, whole or not at all; throws rt::Error where a file cannot be written.
#pragma once

#include <string>

#include "compiler/bench/results.h"

namespace halo::bench {

// What memory and arithmetic allow against operational intensity (flops for each byte that one sweep cannot
// avoid), and where the compiler's choices and the naive schedules lie. A kernel that does several steps in
// one sweep can lie above the slope of the memory.
void write_roofline(const std::string& path, const Results& results);

// Time against the number of cells and, beside it, against the number of statements.
void write_growth(const std::string& path, const Results& results);

}  // namespace halo::bench
