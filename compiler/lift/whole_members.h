// What a function uses of a struct that it is given; for whole_harness.cpp.
#pragma once

#include <map>
#include <string>

#include "compiler/lift/c_code.h"

namespace halo::lift {

struct Members {
    int type = -1;                        // of the variable or member
    bool is_indexed = false;              // it is, or points to, several elements
    std::map<std::string, Members> used;  // of the struct that it is or points to
};

// level->boxes[i].low.x has the members boxes, which are indexed, low and x.
Members members_of(const c::Unit& unit, int variable);

}  // namespace halo::lift
