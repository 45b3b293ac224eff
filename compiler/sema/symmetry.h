// Whether the matrix of a linear form is symmetric, faces included.
#pragma once

#include <optional>

#include "compiler/sema/hidden_fields.h"
#include "compiler/sema/linear_form.h"

namespace halo::sema {

// Where it is not: a face past which the unknown's boundary makes it so; -1: already between cells inside.
struct Asymmetry {
    int axis = -1;
    int side = 0;
};

// Whether it reaches no further than can be looked at in a moment.
bool can_find_asymmetry(const LinearForm& form, int rank);

// Exact but for the chance of one in 10^9: the matrix is made on a small grid, in arithmetic modulo a prime,
// with random numbers for all that is read. What is no sum, product or quotient is a number made of its
// operands, so that only what is alike for any values is equal.
std::optional<Asymmetry> find_asymmetry(Evaluator& evaluator, const LinearForm& form, ir::FieldId unknown);

}  // namespace halo::sema
