// The LaunchPlan of a program: its fields, scalars and reductions; kernels are added by the strategies'
// callers.
#pragma once

#include "compiler/lower/shared/context.h"

namespace halo::lower {

ProgramLayout make_layout(const ir::Program& program, const StageViews& views);

// Everything but the kernels; the reductions in the order of their statements, for ir::ReductionId to name
// them.
rt::LaunchPlan begin_plan(const ir::Program& program, const StageViews& views, const ProgramLayout& layout);

// Says that the plan's kernel number `kernel` computes the stage's reductions; returns their indices in the
// plan.
std::vector<int> add_reductions(const StageView& stage, int kernel, rt::LaunchPlan& plan);

// What a stage's kernel is launched over: the whole grid, or the region of the statement that works in place.
rt::Domain launch_domain(const StageView& stage);

}  // namespace halo::lower
