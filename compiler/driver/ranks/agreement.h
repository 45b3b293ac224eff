// Decisions that all processes of a run must make in the same way, although they depend on a clock, a signal,
// or on data of the first process.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "compiler/driver/planning/pieces_plan.h"
#include "runtime/ranks/ranks.h"

namespace halo::driver {

// Made between two pieces of work.
struct Decision {
    std::int64_t steps = 1;  // of the next one
    bool check = false;      // whether the states are finite
    bool stop = false;       // a process was interrupted
};

// Collective, once for each piece of work: the decision of the first rank; `stop` where any rank stops.
Decision agree(rt::Ranks& ranks, const Decision& own);

// Collective: the first rank's plan, as the models of different devices may cut the grid in different ways.
PiecesPlan agree_on_pieces(rt::Ranks& ranks, const ir::Program& program, const Extent& extent,
                           const std::function<PiecesPlan()>& plan_here);

// Collective. `what` describes everything that defines a run. Throws rt::Error (bad_argument) in a rank where
// it differs from that of the first rank.
void require_same_run(rt::Ranks& ranks, const std::string& what);

}  // namespace halo::driver
