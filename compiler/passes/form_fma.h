// Multiply–add shape: products that meet a sum become fused multiply–adds, rounded once.
#pragma once

#include "compiler/ir/program.h"

namespace halo::passes {

// For sums and products that read fields:
//   a + b*c and b*c + a become fma(b, c, a);  b*c - a becomes fma(b, c, -a);  a - b*c becomes fma(-b, c, a),
//   where a constant or a uniform factor takes the minus if there is one.
//   a sum over a table of b*c takes each row's in as fma(b, c, sum).
// Of two products in one addition the right one is fused, so that a sum of n products is one product and n-1
// fmas in a chain. A product that is used elsewhere, too, stays: fusing it would compute it twice. Uniform
// expressions stay as they are.
void form_fma(ir::Program& program);

}  // namespace halo::passes
