// Which functions of other files are clocks; for whole_run.cpp.
#pragma once

#include <map>
#include <string>

#include "compiler/lift/c_code.h"

namespace halo::lift {

// Those that are called without arguments for a number of which the function makes nothing but other such
// numbers, as in `level->seconds += now() - start`: it reaches no array, no condition, no call and no result.
// By name, with the type of the number.
std::map<std::string, c::Number> find_timers(const c::Unit& unit);

}  // namespace halo::lift
