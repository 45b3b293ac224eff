// Statements for the same cells of a random program: of these one kernel does several.
#pragma once

#include "random_program.h"

namespace halo::test {

// Adds outputs and reductions that a guard limits to the same cells, some of which read each other, and a
// reader of them; or nothing.
void add_shared_cells(RandomProgram& program, const GeneratorOptions& options);

}  // namespace halo::test
