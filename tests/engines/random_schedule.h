// Schedules to try a program with: each strategy in shapes that a block of few threads can have.
#pragma once

#include <vector>

#include "compiler/ir/program.h"
#include "compiler/schedule/schedule.h"
#include "random_program.h"

namespace halo::test {

// One legal schedule of the strategy for each stage; the strategy's plainest where the drawn one is not
// legal. Empty where the strategy cannot run a stage at all (stream along a single axis).
std::vector<schedule::Schedule> random_schedules(const ir::Program& program, schedule::Strategy strategy,
                                                 Random& random);

// By stage: blocks of one plane each, as reductions of pieces of a grid need them.
std::vector<schedule::Schedule> schedules_by_plane(const ir::Program& program);

}  // namespace halo::test
