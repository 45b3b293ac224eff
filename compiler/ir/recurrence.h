// Another form of what a statement of a sweep computes, by which a line can be cut into parts
// (recurrences.h).
#pragma once

#include <optional>

#include "compiler/ir/ids.h"

namespace halo::ir {

// What a statement of a sweep gives a cell, made of what it has given the cell before, v:
// (a*v + b) / (c*v + d). None of them reads v; `a` and `b` are 0 where there is none, without `c` and `d`
// nothing is divided, and without `a` and `c` the value is not made of v.
struct Recurrence {
    std::optional<ExprId> a, b, c, d;
    bool reads_before() const { return a || c; }
    bool divides() const { return c || d; }
};

}  // namespace halo::ir
