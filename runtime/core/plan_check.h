// Checks a LaunchPlan that may come from a file: every index that the runtime will follow is in its range.
#pragma once

#include "runtime/core/geometry.h"
#include "runtime/core/launch_plan.h"

namespace halo::rt {

// Throws Error (bad_argument) that names what is wrong.
void check_plan(const LaunchPlan& plan);

// Levels kept of a field: t+1 (of a state), t, and its past.
int level_count(const FieldPlan& field);
// The latest level: 1 for a state, 0 for others. Levels run from it back to -history.
int latest_time(const FieldPlan& field);
bool has_unread_steps(const LaunchPlan& plan);  // steps with results and without are not the same
bool has_first_steps(const LaunchPlan& plan);   // the first of those that are asked for together is another
// The steps of a run around that one in which the same kernels run (KernelPlan::within).
StepRange steps_of_same_kernels(const LaunchPlan& plan, std::int64_t step);
// Whether steps without results find it, too.
bool is_found_without_results(const LaunchPlan& plan, int reduction);
// Whether scalars of the device follow from it.
bool is_read_on_device(const LaunchPlan& plan, int reduction);
// Whether a kernel runs in each step. Kernels over rows of tables run when these change. The halo of an input
// is filled when it is uploaded, and so is that of a state whose writers store its images; of an input in a
// step only where what lies past it depends on that, or may show what another such kernel has filled there
// before.
bool runs_in_step(const LaunchPlan& plan, const KernelPlan& kernel);
bool has_coarse_grids(const LaunchPlan& plan);  // some field lies on a coarser grid
bool is_whole_grid(const Domain& domain);       // blocks are laid over all cells, and nothing else
// On a CPU: whether its blocks are the rows of all planes, one plane after the other.
bool counts_rows_of_planes(const KernelPlan& kernel);
inline bool is_halo(const Domain& domain) {  // they are laid over cells around the grid
    return domain.kind == Domain::Kind::shell || domain.kind == Domain::Kind::faces;
}
// Whether the kernel can do steps of a grid in arrays that lie so.
bool works_on(const TimeBlock& block, const Geometry& geometry);
// Elements of a coefficient, row-major over its ranges.
std::int64_t element_count(const CoefPlan& coef);

}  // namespace halo::rt
