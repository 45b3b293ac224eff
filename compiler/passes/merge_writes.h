// The pass for levels that several statements write: one statement gives a state all its values where that
// means the same.
//
// A statement after the first changes a level in place, by a kernel of its own, and no kernel does several
// steps of what changes in place. But of
//   where solid == 0 { T[t+1] = A }
//   where solid == 1 { T[t+1] = hot }
// the first leaves `if solid == 0 then A else T` and the second `if solid == 1 then hot else` that, which is
// one expression. Where the second reads what the first has left at its neighbours, as in red-black
// relaxation, that becomes a let with the state's boundary:
//   let u_before = if red then R(u) else u
//   u[t+1] = if black then R(u_before) else u_before
//
// Of an output, which keeps what no statement writes, statements that follow one another for the same cells
// become one:
//   on x in 2..-3 { v = u - A }
//   on x in 2..-3 { v = v - B }         v = u - A - B
//
// Statements of states stay as they are that are for a part of the grid or have margins, whose states are
// stored in fewer bits than they are computed in, and with boundaries that formulas or the number of the step
// give. With three colours and more they do, too: each colour would compute all cells. Every bit of the
// result is the same.
#pragma once

#include "compiler/ir/program.h"

namespace halo::passes {

void merge_writes(ir::Program& program);

}  // namespace halo::passes
