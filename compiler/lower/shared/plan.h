// Starts the LaunchPlan of a program: its fields, scalars and reductions. The callers of the strategies add
// the kernels.
#pragma once

#include "compiler/lower/shared/context.h"

namespace halo::lower {

ProgramLayout make_layout(const ir::Program& program, const StageViews& views);

// The plan without kernels. Its reductions are in the order of their statements, so that an ir::ReductionId
// is their index.
rt::LaunchPlan begin_plan(const ir::Program& program, const StageViews& views, const ProgramLayout& layout);

// Records that the plan's kernel number `kernel` computes the stage's reductions; returns their indices in
// the plan.
std::vector<int> add_reductions(const StageView& stage, int kernel, rt::LaunchPlan& plan);

// The cells that a stage's kernel is launched over: the whole grid, or the region of a statement that changes
// a level in place.
rt::Domain launch_domain(const StageView& stage);

}  // namespace halo::lower
