// What a time step has to compute whose results nobody reads, as another step follows at once: what states
// depend on, and all that is more than the last step's. The rest is computed in steps with results alone.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::ir {

// True for each statement that such a step needs: samples at points, which have a value for each step; what
// writes states, and outputs that keep something of earlier steps; reductions that a later step reads; and
// all that these read. also: by statement, further ones whose values are wanted of every step.
std::vector<bool> needed_in_unread_steps(const Program& program, const std::vector<bool>& also = {});

// Conditions, of params, lengths and the step's number, that choose in which steps statements do something at
// all, such as `where mod(step, 10) == 9`. Of other steps these statements are left out, as what they would
// change stays what it is; a step for which one of the conditions holds is one with results.
std::vector<ExprId> conditions_of_steps(const Program& program);

// Those that single steps do then. All, where a program leaves nothing to the next step: whoever asks for
// many steps of it wants their work, such as a benchmark.
std::vector<bool> done_in_unread_steps(const Program& program);
// The outputs and reductions that they leave out.
std::vector<std::string> left_out_of_unread_steps(const Program& program);

}  // namespace halo::ir
