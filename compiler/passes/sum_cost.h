// What a sum costs, in operations of the kernel that form_fma leaves. Private to the room.
#pragma once

#include <vector>

#include "compiler/ir/program.h"
#include "compiler/ir/shifted.h"

namespace halo::passes {

struct SumCost {
    int shared = 0;  // operations a cell where cells share what is the same at a shifted place
    int alone = 0;   // where each computes all for itself
};

// Counts additions and multiplications from `root` down to reads, to uniform expressions, and to `closed`.
SumCost cost_of_sum(const ir::Program& program, ir::ShiftedShapes& shapes, ir::ExprId root,
                    const std::vector<ir::ExprId>& closed);

bool is_better(const SumCost& cost, const SumCost& than);

}  // namespace halo::passes
