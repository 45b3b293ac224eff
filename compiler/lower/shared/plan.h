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

    // The repeats that the stage is the last of and whose condition the device finds, innermost first.
    struct Ended {
        const ir::RepeatEnd* end = nullptr;
        std::size_t repeat = 0;  // of the plan
    };
    std::vector<Ended> ended(const StageView& stage, const StageView* next) const;

private:
    struct Open {
        ir::Repeat repeat;
        std::size_t index = 0;  // of the plan
    };
    int first_ = 0;           // kernel of the stage
    std::vector<Open> open_;  // that the last kernel is of, outermost first
};

// The cells that a stage's kernel is launched over: the whole grid, or the region of a statement that changes
// a level in place.
rt::Domain launch_domain(const StageView& stage);

}  // namespace halo::lower
