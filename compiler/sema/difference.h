// The differences that a stencil's derivatives have become, for those who show them beside the text.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "compiler/support/source.h"

namespace halo::sema {

struct Difference {
    SourceRange where;  // of the call: d(u, x)
    int axis = 0;
    int derivative = 0;         // 0: interpolates
    std::int64_t accuracy = 2;  // its order
    int side = 0;               // -1: low, +1: high, 0: both
    int beyond = 0;             // of one with a side: nodes on the other side
    bool is_staggered = false;  // the operand lies half a cell from where it is taken
    friend bool operator<(const Difference& a, const Difference& b) {
        const auto key = [](const Difference& each) {
            return std::tuple(each.where.begin, each.where.end, each.axis, each.derivative, each.accuracy,
                              each.side, each.beyond, each.is_staggered);
        };
        return key(a) < key(b);
    }
};

// A difference over some points of an axis whose cells are not equally far apart.
struct StretchedDifference {
    int axis = 0;
    int derivative = 0;         // 0: interpolates
    std::vector<int> cells;     // whose points it takes, counted from where it is taken
    int nearest = 0;            // which of these is nearest to that
    bool is_staggered = false;  // the points lie half a cell from there
    bool to_half = false;       // it is taken half a cell up
};

}  // namespace halo::sema
