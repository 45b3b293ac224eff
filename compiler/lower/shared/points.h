// Kernels at points off the grid (runtime/core/points.h has the lists that they run over).
//
// Injecting: one thread, or turn of a loop, for each cell that is touched, which takes in its points one
// after the other; nothing is added by two threads. Sampling: one for each point, over its cells in memory
// order. So every machine adds in the same order.
#pragma once

#include "compiler/lower/shared/strategy.h"

namespace halo::lower {

bool is_at_points(const StageView& stage);
std::vector<std::string> point_roles();  // names that these kernels have for purposes of their own

StrategyResult lower_points_cuda(Context& context, Images& images);
StrategyResult lower_points_cpu(Context& context);

rt::Domain point_domain(const StageView& stage);
std::string point_words(const StageView& stage);  // for the comment above the kernel

std::vector<rt::PointsPlan> point_plans(const ir::Program& program);

}  // namespace halo::lower
