// The planes of a piece in the order that asynchronous exchange wants: first those that neighbours need.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/core/session.h"

namespace halo::rt {

struct BordersFirst {
    std::array<PlaneRange, 2> borders;  // below and above; empty where there is no neighbour
    PlaneRange inner;                   // what may be left; empty in a thin piece
};

// own: a piece's own planes. given: how many of them the neighbour below, and the one above, has as ghosts.
// walks: of the kernel over all of a column; 0: it shares the planes out otherwise.
//
// Each walk begins with turns that bring nothing out, so borders are no thinner than walks are anyway: then
// coming first costs nothing. The last walk is the inner one, and shorter than others, as blocks that end
// late leave less of the device without work the shorter they are.
BordersFirst borders_first(const PlaneRange& own, const std::array<std::int64_t, 2>& given, int walks);

}  // namespace halo::rt
