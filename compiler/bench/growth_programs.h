// Programs of any length, to see how the cost of compiling grows.
#pragma once

#include <string>
#include <vector>

namespace halo::bench {

// chain   each statement reads neighbours of the one before it: a stage for each
// wide    each statement has a field of its own and reads what was before the step: one stage
// lets    one statement, made of a row of lets of which each uses the one before it twice
const std::vector<std::string>& growth_shapes();

// A spec with `statements` statements (or lets), of one of these shapes.
std::string growth_program(const std::string& shape, int statements);

}  // namespace halo::bench
