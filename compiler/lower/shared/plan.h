// Starts the LaunchPlan of a program: its fields, scalars and reductions. The callers of the strategies add
// the kernels.
#pragma once

#include "compiler/lower/shared/context.h"

namespace halo::lower {

ProgramLayout make_layout(const ir::Program& program, const StageViews& views, Machine machine);
// The same for a part of the program that has expressions, and fields without an array, of its own.
ProgramLayout layout_of_part(const ProgramLayout& layout, const ir::Program& part);

// The plan without kernels. Its reductions are in the order of their statements, so that an ir::ReductionId
// is their index.
rt::LaunchPlan begin_plan(const ir::Program& program, const StageViews& views, const ProgramLayout& layout);

// The stage's reductions, as the plan numbers them.
std::vector<int> plan_reductions(const StageView& stage, const rt::LaunchPlan& plan);

// Adds a kernel of the stage. The plan's reductions are those of steps with results.
void add_stage_kernel(const StageView& stage, rt::KernelPlan kernel, rt::LaunchPlan& plan);

// Says in the plan which kernels are done several times: a stage's stand between begin() and end().
class RepeatedKernels {
public:
    void begin(const rt::LaunchPlan& plan);
    void end(const StageView& stage, const ProgramLayout& layout, rt::LaunchPlan& plan);

    // What ends the repeat that the stage is the last of; nullptr: nothing does, or it is not the last.
    const ir::RepeatEnd* ended(const StageView& stage, const StageView* next) const;

private:
    int first_ = 0;                      // kernel of the stage
    std::optional<ir::Repeat> current_;  // that the plan's last entry is of
};

// The cells that a stage's kernel is launched over: the whole grid, or the region of a statement that changes
// a level in place.
rt::Domain launch_domain(const StageView& stage);

}  // namespace halo::lower
