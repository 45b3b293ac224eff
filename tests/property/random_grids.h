// Random fields on coarser grids: statements of a random program for these, and reads between grids.
#pragma once

#include "random_program.h"

namespace halo::test {

// In most programs without staggered fields, by numbers of their own, so that programs are otherwise the
// same. The grid must be made; it grows where a coarser one needs it.
void add_fields_on_coarser_grids(RandomProgram& program, const GeneratorOptions& options);

}  // namespace halo::test
