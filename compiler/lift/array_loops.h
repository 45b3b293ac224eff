// Which functions are worth a look: those that go through arrays.
#pragma once

#include "compiler/lift/c_code.h"

namespace halo::lift {

// Whether the unit's function has a loop in which it, or a function that it calls there, reaches elements of
// arrays. Of a kernel, whether it reaches any: its threads are the loop.
bool has_array_loops(const c::Unit& unit);

}  // namespace halo::lift
