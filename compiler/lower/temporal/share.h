// How a temporal kernel's grid is divided: which tiles, and which planes of them, a worker traverses. A
// worker is a block, in two dimensions a warp.
#pragma once

#include "compiler/lower/temporal/frame.h"

namespace halo::lower {

// The planes that come out of a launch: all, or those of a piece that it is asked for.
struct PlanesOut {
    kernel::Expr count;
    kernel::Expr begin;  // empty: from the first on
};

// Declares who a thread is, `tiles_x`, and its worker's tiles: `first_tile` to `end_tile` - 1, and of those
// that go through all tiles, one after the other, the planes `share_begin` to `share_end` - 1. Sets the
// frame's lane, warp and row, and which planes neighbours are given.
PlanesOut declare_share(TemporalFrame& frame, kernel::Block& body);

}  // namespace halo::lower
