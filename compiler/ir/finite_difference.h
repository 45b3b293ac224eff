// Weights of finite differences, exactly (runtime/core/difference_weights.h). Positions are in units of the
// spacing; divide a weight by spacing^derivative.
#pragma once

#include <vector>

#include "compiler/support/rational.h"

namespace halo::ir {

// w[i] so that sum_i w[i] * f(nodes[i]) is the derivative of that order at `at` of the polynomial through all
// nodes: exact for polynomials of degree < nodes.size(). Nodes are distinct and more than `derivative` (>= 0)
// in number; throws InternalError otherwise. Nodes need not be integers: half-way nodes give staggered
// differences.
std::vector<Rational> difference_weights(int derivative, const std::vector<Rational>& nodes,
                                         const Rational& at = Rational());

struct Tap {
    int offset = 0;
    Rational weight;
};

// The narrowest centred difference of the given derivative (>= 1) and even order of accuracy (>= 2): offsets
// -r … r in ascending order, taps of zero weight left out. Error is O(spacing^accuracy).
std::vector<Tap> centred_difference(int derivative, int accuracy);

// r of the above: how far the difference reaches.
int centred_radius(int derivative, int accuracy);

// The narrowest difference of the given derivative (>= 0; 0 interpolates) and even order of accuracy (>= 2)
// over points at ±1/2, ±3/2, … from where it is taken. Tap r stands for the point at r - 1/2, r = 1, 2, …;
// that at
// -(r - 1/2) has the same weight, negated where the derivative is odd.
std::vector<Tap> staggered_difference(int derivative, int accuracy);

// How many points that has on each side.
int staggered_radius(int derivative, int accuracy);

}  // namespace halo::ir
