// Terms that C computes in reals and whose operands are whole numbers: what a spec computes in whole numbers
// has the same values where they fit, but for the sign of a zero.
#pragma once

#include "compiler/lift/model.h"

namespace halo::lift {

// Of a term that C has converted to a real: whether a spec knows it to be whole.
bool is_whole_number(const Model& model, int id);
// Of such a term: how large it may be, at most; 2^64 where that is not known.
double largest_whole(const Model& model, const Term& each);
// Whether an operation on such terms may be -0.0 in reals.
bool may_make_zero_below_zero(const Model& model, const Term& each);

}  // namespace halo::lift
