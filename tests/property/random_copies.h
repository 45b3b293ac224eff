// Lets of a random program that are copies of its fields, as stages of loops over names have them.
#pragma once

#include "random_program.h"

namespace halo::test {

// Adds a let that is a field, with the field's boundaries or with others, and puts it in the place of some of
// the reads of that field; or nothing.
void add_copies(RandomProgram& program);

}  // namespace halo::test
