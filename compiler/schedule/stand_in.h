// Levels of a program in whose place a part of it, made a program of its own, reads and writes others.
#pragma once

#include <algorithm>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::schedule {

struct StandIn {
    ir::Level own;  // of the part
    ir::Level of;   // of the whole
};

// The level of the whole that the part's is: the same one where none is in its place.
inline ir::Level origin(const std::vector<StandIn>& stand_ins, const ir::Level& own) {
    const auto found = std::ranges::find(stand_ins, own, &StandIn::own);
    return found == stand_ins.end() ? own : found->of;
}

}  // namespace halo::schedule
