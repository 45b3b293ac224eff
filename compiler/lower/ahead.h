// Reductions of what a step begins with, found at the end of the step before.
//
// `reduce fastest = max(abs(u))` before `u[t+1] = …` needs a pass over u of its own. The kernel that computes
// u[t+1] has these values in registers: it reduces them for the next step, and the pass is done in the first
// step alone of those that are asked for together, and in steps whose results are read.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/program.h"
#include "compiler/kernel/program.h"
#include "compiler/lower/shared/names.h"
#include "runtime/core/launch_plan.h"

namespace halo::lower {

struct Ahead {
    struct Carried {
        ir::ReductionId own, ahead;  // in the spec, and what the step before finds in its place
        std::size_t stage = 0;       // of `own`
        std::size_t found_by = 0;    // the stage that finds `ahead`
    };
    ir::Program program;            // with reductions more, which stand last
    std::vector<ir::Stage> stages;  // as those of the program without them
    std::vector<Carried> carried;
};

// Nothing where no reduction can be found ahead: only least and greatest values, of states alone, all of
// whose cells one stage computes, as far as all that stand in one stage can be.
std::optional<Ahead> find_ahead(const ir::Program& program);

// Adds the kernel that puts the value of the first step in the place of what the step before would have
// found.
void add_first_value(const Ahead& ahead, const Ahead::Carried& carried, Names& kernel_names,
                     kernel::Program& kernels, rt::LaunchPlan& plan);

}  // namespace halo::lower
