// Kernels at points off the grid (runtime/core/points.h has the lists that they run over).
//
// Injecting: a thread, or an iteration of a loop, for each cell that is touched adds the contributions of its
// points one after the other, so that no two threads add to a cell. Sampling: one for each point adds over
// its cells in memory order. So every engine adds in the same order.
#pragma once

#include "compiler/lower/shared/strategy.h"

namespace halo::lower {

bool is_at_points(const StageView& stage);
std::vector<std::string> point_roles();  // names that these kernels reserve

StrategyResult lower_points_cuda(Context& context, Images& images);
StrategyResult lower_points_cpu(Context& context);

rt::Domain point_domain(const StageView& stage);
std::string point_words(const StageView& stage);  // for the comment above the kernel

std::vector<rt::PointsPlan> point_plans(const ir::Program& program);

}  // namespace halo::lower
