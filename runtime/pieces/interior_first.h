// The planes of a piece in the order that asynchronous exchange wants: those that need no ghosts come first.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/core/session.h"

namespace halo::rt {

struct InteriorFirst {
    PlaneRange interior;                // empty in a thin piece
    std::array<PlaneRange, 2> borders;  // below and above; empty where there are no ghosts
};

// planes: those to compute. bound: how many of the lowest of them, and of the highest, need ghosts. walks: of
// the kernel over all of a column; 0: it shares the planes out otherwise.
//
// Each walk begins with turns that bring nothing out, so a border is a walk where there are several: then it
// costs nothing. It is shorter than those of the interior, as blocks that end late leave less of the device
// without work the shorter they are.
InteriorFirst interior_first(const PlaneRange& planes, const std::array<std::int64_t, 2>& bound, int walks);

}  // namespace halo::rt
