// The part of a program that kernels for several time steps do; single steps do the rest.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::schedule {

// The statements that states depend on: what has to be done in every step.
ir::Program state_core(const ir::Program& program);

struct TemporalCore {
    ir::Program program;
    std::vector<std::string> reductions;  // that it has, in order of their statements
    struct LeftOut {
        std::string reduction;
        std::string why;  // in the user's words
    };
    std::vector<LeftOut> left_out;
    bool is_whole = true;  // nothing of the program is left for single steps
};
// The same with those of the reductions `wanted` that a pipeline can have.
TemporalCore temporal_core(const ir::Program& program, const std::vector<std::string>& wanted);

// What keeps a run that looks at the wanted reductions after every step from several steps at once; else
// empty.
std::string why_unwatched(const TemporalCore& core);

// What only single steps give right although no state depends on it, as each needs the step before; empty
// where there is nothing of the kind.
std::string refused_rest(const ir::Program& program);

}  // namespace halo::schedule
