// Loops of random functions that leave values to their next iterations.
#pragma once

#include <string>
#include <vector>

#include "random_function.h"

namespace halo::test {

// Adds a nest of which the innermost loop goes from plane to plane, or of one axis from cell to cell. size:
// the type of its counters.
void add_march(const RandomFunction& function, const std::string& size, std::vector<Piece>& body);

}  // namespace halo::test
