// From what to how: (StencilProgram, Plan) → KernelProgram and the LaunchPlan that runs it.
//
// Each strategy is an arrangement of the same pieces: stage_view (what a stage reads and writes), cell (the
// arithmetic of one cell), window (a thread's cells in registers), images (halo cells that mirror interior
// ones), reduce (partial results of a block), plan (arguments and host scalars).
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/program.h"
#include "compiler/kernel/program.h"
#include "compiler/lower/shared/notes.h"
#include "compiler/schedule/plan.h"
#include "runtime/core/launch_plan.h"

namespace halo::lower {

struct Lowered {
    kernel::Program kernels;
    rt::LaunchPlan plan;
    // By stage of a GPU: the name of the kernel that does it, in steps with results.
    std::vector<std::string> kernels_of_stages{};
};

// plan: one schedule for each of form_stages(program), legal for the target. Throws UnsupportedError where a
// schedule or the grouping asks for what its strategy cannot do.
// notes: comments above what each statement, let and boundary has become.
Lowered lower_cuda(const ir::Program& program, const schedule::Plan& plan, const Notes& notes = {});

// C++ for the CPU: every kernel is a function over a range of blocks (emit::print_cpp): rows or planes, of
// points and tables what the plan's domain says.
Lowered lower_cpu(const ir::Program& program);

}  // namespace halo::lower
