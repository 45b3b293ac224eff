// What the processes of one run must decide alike, though it depends on a clock, a signal, or on what the
// first of them alone has seen.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "compiler/driver/planning/pieces_plan.h"
#include "runtime/ranks/ranks.h"

namespace halo::driver {

// Between two pieces of work.
struct Decision {
    std::int64_t steps = 1;  // of the next one
    bool look = false;       // whether all is finite
    bool stop = false;       // someone was interrupted
};

// Collective, once for each piece of work: what the first rank decides; `stop` where any rank does.
Decision agree(rt::Ranks& ranks, const Decision& own);

// Collective: how the first rank cuts the grid, by a model of its device, which need not be the others'.
PiecesPlan agree_on_pieces(rt::Ranks& ranks, const ir::Program& program, const Extent& extent,
                           const std::function<PiecesPlan()>& plan_here);

// Collective. Throws rt::Error (bad_argument) in a rank where `what`, in which all that makes a run is
// written down, is not what the first rank has.
void require_same_run(rt::Ranks& ranks, const std::string& what);

}  // namespace halo::driver
