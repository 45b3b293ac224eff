// Random fields over fewer axes: inputs that statements of a random program read besides what they read.
#pragma once

#include "random_program.h"

namespace halo::test {

// In some programs of two or three axes, by numbers of their own, so that programs are otherwise the same.
// The grid must be made.
void add_fields_over_fewer_axes(RandomProgram& program, const GeneratorOptions& options);

}  // namespace halo::test
