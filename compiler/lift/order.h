// In which order the parts of an expression are computed, where C and C++ leave that open.
#pragma once

#include "compiler/lift/c_code.h"

namespace halo::lift {

// Expressions of which one part changes what another one reads or changes (`w[j++] = u[j - 1]`) become
// unknown: C leaves their order open, and C++ has one since C++17.
void refuse_open_order(c::Unit& unit);

}  // namespace halo::lift
