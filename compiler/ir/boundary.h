// Where a read past an edge goes. The one place that says so; every engine is tested against it.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/program.h"

namespace halo::ir {

// The cell along one axis of extent n >= 1 whose value cell `index` (any integer) shows. Inside the domain:
// itself. nullopt past a fixed or a free face. Mirror and periodic hold for any n: reflections and periods
// repeat. A reflection that leaves through the other face is treated by that face's rule; there, a free face
// reflects as a mirror does, so that images always have a value.
std::optional<std::int64_t> source_index(BoundaryKind low, BoundaryKind high, std::int64_t index,
                                         std::int64_t n);

// Where source_index() has no cell: the side (0 low, 1 high) of the fixed or free face that is read past.
int outside_side(BoundaryKind low, BoundaryKind high, std::int64_t index, std::int64_t n);

// Where more than one axis is past its edge, each axis maps its own index; if any axis is past a fixed face,
// the value is that of the first such axis in declaration order.

}  // namespace halo::ir
