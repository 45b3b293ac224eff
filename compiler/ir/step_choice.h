// What the step's number decides alone: in which steps statements do something, and reductions are a number.
#pragma once

#include <optional>

#include "compiler/ir/analysis.h"
#include "compiler/ir/program.h"

namespace halo::ir {

// The part of a condition that is of params, lengths and the step's number, for all cells alike.
std::optional<ExprId> choice_of_steps(const Program& program, ReachWalk& walk, ExprId condition);

// Steps outside of which a choice of steps does not hold: what it says by comparing the number with
// constants.
struct ChosenSteps {
    rt::StepRange range;
    bool are_all = true;  // it holds in each of them
};
ChosenSteps chosen_steps(const Program& program, ExprId choice);

// The first steps of a run, in which the same statements are done as in step 0 (Assign::within).
rt::StepRange first_steps(const Program& program);

// The value in the steps for which the condition holds, and no number in others; it is that of a reduction.
ExprId number_in_some_steps(const Program& program, ExprBuilder& builder, ExprId condition, ExprId value);
bool is_number_in_some_steps(const Program& program, const Reduce& reduce);

}  // namespace halo::ir
