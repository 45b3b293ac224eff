// The reassociation pass: fewer multiplications in sums of weighted terms.
//
// In every maximal sum (additions, subtractions, negations, and multiplications and divisions by uniform
// factors, each used once) over terms that read fields:
//   - all uniform factors of a product become one, computed on the host in f64 and rounded once to the type
//   of the
//     term: c * (a - b) / dx is (c/dx) * (a - b), u / 3 is (1/3) * u, (v*dt) * (v*dt) is (dt*dt) * (v*v);
//   - like terms are one: 2*u + u is 3*u, k*u + m*u is (k+m)*u; u + k*u stays, see below;
//   - terms of equal or opposite coefficients share it: c*a + c*b - c*d is c * (a + b - d);
//   - the uniform terms are one.
// A factor in front of a parenthesised sum stays in front: u + k * (s - 6*u) keeps its shape, since
// multiplying k into it would save nothing and would let u's two coefficients cancel on the host.
// Parenthesised sums that get the same factor are merged. Sums and products that are used more than once are
// computed once, so they are terms, not opened. Division by what varies stays.
// The order is that of first appearance, but a sum begins with a group that has a positive term, and that
// group with that term; in c*(a - b) the term read at the larger offset is the positive one.
//
// Not kept: rounding, zeros' signs, and infinities or NaN that a cancelled term (u - u, 0*u) would have
// brought in. No sum changes what it is in exact arithmetic. docs/floating-point.md says this to users.
#pragma once

#include "compiler/ir/program.h"

namespace halo::passes {

void group_coefficients(ir::Program& program);

}  // namespace halo::passes
