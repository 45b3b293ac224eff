// Random programs of single bytes: neighbourhoods, counts, sums, choices and comparisons, whose cells are
// computed four of a row in a word where the numbers fit.
#pragma once

#include <cstdint>
#include <string>

#include "random_time_loop.h"

namespace halo::test {

struct ByteProgram {
    int rank = 2;
    Extent extent{};  // around four cells and below
    std::string text;
};
ByteProgram random_bytes(std::uint64_t seed);

// For several steps at once, on a grid that is no multiple of a word, a thread's cells or the tiles.
RandomTimeLoop random_byte_loop(std::uint64_t seed);

// As check_several_steps(), of these: many can be done so.
void check_byte_loops(Seeds seeds, const LoopDifference& difference);

}  // namespace halo::test
