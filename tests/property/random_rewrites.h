// Outputs of random programs that are written again, whole, once they have been read.
#pragma once

#include "random_program.h"

namespace halo::test {

// Does nothing where the program has no output that every cell of the whole grid has.
void add_rewrites(RandomProgram& program);

}  // namespace halo::test
