// The part of a program that kernels for several time steps compute. Single steps compute the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/schedule/stand_in.h"

namespace halo::schedule {

// The statements that every step has to execute (ir/unread_steps.h), of the first steps (ir::first_steps()).
ir::Program state_core(const ir::Program& program);

// How often a repeat is done by kernels for several iterations, each time that it is done.
struct Iterations {
    int repeat = 0;  // its number
    std::int64_t count = 0;
    bool is_whole = true;  // else the last iteration is done by itself, as it computes more
    std::int64_t most() const { return is_whole ? count : count - 1; }
    std::int64_t launches(std::int64_t at_once) const { return most() / at_once; }
    std::int64_t singly(std::int64_t at_once) const { return count - launches(at_once) * at_once; }
};

struct TemporalCore {
    // Fields of the whole program have the same numbers in both.
    ir::Program program;
    // Of a program that repeats statements within a step: the repeat of which `program` is an iteration, and
    // the states that this carries on. Single steps do all else, in each step.
    std::optional<Iterations> iterations;
    std::vector<ir::FieldId> carried;
    std::vector<StandIn> stand_ins;
    std::string refused;                  // why there is none, or none that works; in the user's words
    std::vector<std::string> reductions;  // of the core, in order of their statements
    struct LeftOut {
        std::string reduction;
        std::string why;  // in the user's words
    };
    std::vector<LeftOut> left_out;
    bool is_whole = true;  // the core is the whole program, or all of the repeat
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
