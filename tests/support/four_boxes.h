// A grid of 5 x 7 x 6 cells in four boxes, as ranks would have them.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/core/box.h"

// Cut along x and z.
inline std::vector<halo::rt::Box> four_boxes() {
    std::vector<halo::rt::Box> boxes;
    for (const std::int64_t x : {0, 2})
        for (const std::int64_t z : {0, 5})
            boxes.push_back({{x, 0, z}, {x == 0 ? 2 : 5, 7, z == 0 ? 5 : 6}});
    return boxes;
}
