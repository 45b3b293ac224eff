// Loops of random functions that leave values to their next iterations.
#pragma once

#include <string>
#include <vector>

#include "random_function.h"

namespace halo::test {

// Adds a nest of which the innermost loop goes from plane to plane (of one axis: from cell to cell, and is all
// that the function does then). size: the type of its counters.
void add_march(const RandomFunction& function, const std::string& size, std::vector<Piece>& body);

}  // namespace halo::test
