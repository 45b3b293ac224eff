// Kernels at points off the grid (runtime/core/points.h has the lists that they run over).
//
// Injecting: a thread, or an iteration of a loop, for each cell that is touched adds the contributions of its
// points one after the other, so that no two threads add to a cell. Sampling: one for each point adds over
// its cells in memory order. So every engine adds in the same order. Where a point has many cells, the
// threads of a block compute the terms of its sum and one of them adds.
#pragma once

#include "compiler/lower/shared/strategy.h"

namespace halo::lower {

inline constexpr int kPointThreads = 128;  // of a block

bool is_at_points(const StageView& stage);
std::vector<std::string> point_roles();  // names that these kernels reserve

StrategyResult lower_points_cuda(Context& context, Images& images);
StrategyResult lower_points_cpu(Context& context);

rt::Domain point_domain(const StageView& stage);
std::string point_words(const StageView& stage);  // for the comment above the kernel

std::vector<rt::PointsPlan> point_plans(const ir::Program& program);

}  // namespace halo::lower
