// Kernels that follow each other as one kernel of one block, which does them in turn with a barrier after
// each.
//
// The kernel of a stage becomes a function that computes one of its blocks, and the block of the fused kernel
// calls it for each, several at once where it has so many threads. So each cell is computed as by a launch of
// the stage's own. A repeat all of whose kernels are fused is a loop of that kernel.
#pragma once

#include <map>
#include <string>

#include "compiler/lower/lower.h"

namespace halo::lower {

// By the names of kernels that are to be fused with those beside them of the same number: the threads of the
// block.
using FusedThreads = std::map<std::string, int>;

// A kernel keeps a launch of its own where none beside it is fused with it, and where its threads wait for
// each other or its arguments are others than arrays, scalars, extents and strides.
void fuse_kernels(const FusedThreads& wanted, Lowered& lowered);

}  // namespace halo::lower
