// Nests that follow one after the other as one stencil, which loads once what several of them read, and is
// one call; for lift.cpp.
#pragma once

#include <span>

#include "compiler/lift/lift.h"

namespace halo::lift {

// Whether nothing stands between two statements but directives `#pragma` and comments.
bool are_adjacent(const c::Unit& unit, int first, int second);

// Whether nests that are lifted together need no more than each by itself: no copy of an array that is
// changed in place, no boundary, no assumption, and the same grid and distances between rows, as arrays are
// worked on where they are.
bool is_as_good(const Lifted& joined, std::span<const Lifted> parts);

}  // namespace halo::lift
