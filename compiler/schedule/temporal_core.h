// The part of a program that kernels for several time steps compute. Single steps compute the rest.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::schedule {

// The statements that every step has to execute (ir/unread_steps.h).
ir::Program state_core(const ir::Program& program);

struct TemporalCore {
    ir::Program program;
    std::vector<std::string> reductions;  // of the core, in order of their statements
    struct LeftOut {
        std::string reduction;
        std::string why;  // in the user's words
    };
    std::vector<LeftOut> left_out;
    bool is_whole = true;  // the core is the whole program
};
// The same, with those of the reductions `wanted` that a pipeline can compute. A state whose neighbours are
// read at t and at t+1 has a let for the latter, after the program's fields.
TemporalCore temporal_core(const ir::Program& program, const std::vector<std::string>& wanted);

// Why a run that reads the wanted reductions after every step cannot do several steps at once; else empty.
std::string why_unwatched(const TemporalCore& core);

// Why only single steps compute the rest right: a statement that no state depends on needs the step before.
// Empty where no statement does.
std::string refused_rest(const ir::Program& program);

}  // namespace halo::schedule
