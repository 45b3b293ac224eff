// The pass for lets that neighbours read: each reader computes such a term again, from what it is made of.
//
//   let term { boundary fixed 0 } = (v * dt)^2 * u_adj
//   u_adj[t+1] = u_adj + laplacian(term)
// takes two sweeps, as a cell reads what others have written: the first stores `term`, the second reads it.
// With (v * dt)^2 * u_adj in the place of each read, one sweep does both. It reads v and u_adj at neighbours,
// and no array holds `term`. Which of the two is faster is for a model to say (driver/planning).
//
// A term is a sum or product of inputs, of states as the step began with them, and of numbers, each field at
// the cell itself. Where it is 0 past a face or shows the other end of the axis, so do the fields that it is
// made of, as far as they have no boundary: these have one afterwards. Every bit of the result is the same,
// but for the sign of a zero that comes from past a face.
#pragma once

#include <optional>

#include "compiler/ir/program.h"

namespace halo::passes {

// After optimize(), so that what is computed again is rounded as it was. nullopt: the program has no such
// term.
std::optional<ir::Program> recompute_terms(const ir::Program& program);

}  // namespace halo::passes
