// Divides the planes of a piece for asynchronous exchange: the interior, which needs no ghosts, is computed
// first and overlaps the exchange.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/core/session.h"

namespace halo::rt {

struct InteriorFirst {
    PlaneRange interior;                // empty in a thin piece
    std::array<PlaneRange, 2> borders;  // below and above; empty where there are no ghosts
};

// planes: those to compute. bound: how many of the lowest of them, and of the highest, need ghosts.
// traversals: the kernel's traversals of a column; 0: it divides the planes otherwise.
//
// Each traversal has a prologue without output, so a border replaces one of several traversals and costs no
// further prologue. It is shorter than those of the interior, as short blocks at the end of a launch leave
// less of the device idle.
InteriorFirst interior_first(const PlaneRange& planes, const std::array<std::int64_t, 2>& bound,
                             int traversals);

}  // namespace halo::rt
