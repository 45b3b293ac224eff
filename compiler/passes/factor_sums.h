// The pass for sums over boxes: what neighbouring cells compute, too, becomes one expression at shifted
// places.
//
// A weighted sum over many cells of one level is taken apart into sums along the rows, in the planes and over
// the planes (sum_plan.h), so that each of them is the same expression at a shifted place for the cells
// around: 27 points with weights for the centre, faces, edges and corners are
//   h = u[x-1] + u[x+1],  A = u[y-1] + h + u[y+1],  D = h[y-1] + h[y+1],  Q = v*D + e*A + f*u,
//   Q[z-1] + e*D + f*A + c*u + Q[z+1]
// and a kernel that computes h, A, D and Q once a cell does 11 operations where the plain sum has 27. Kernels
// get that from values that each thread keeps in registers, or from a compiler that finds equal operations of
// its cells; for this, operands stand in one order, whichever cell an expression is for.
//
// Terms stand by the highest plane of the slowest axis that they read, what reads lower planes first, and
// what reads other levels at the end. So a kernel that streams along that axis can add to a sum as planes
// arrive.
//
// After group_coefficients, whose form c * (a + b + d) is opened where c is shared otherwise: c stays as it
// is, but multiplies each part, so roundings differ. c * (a - b) is opened only where no difference that is 0
// in a constant field is split. c * (a - 6*b) stays closed, as there. A weight is split in two factors only
// where one of them is a number that every type holds exactly.
//
// A sum changes only where that lowers the number of operations that are left when neighbours share theirs,
// and does not raise that of a cell by itself by more than a quarter. Stars and sums of different weights
// stay.
#pragma once

#include "compiler/ir/program.h"

namespace halo::passes {

void factor_sums(ir::Program& program);

}  // namespace halo::passes
