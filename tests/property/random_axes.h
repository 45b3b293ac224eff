// Random axes: fields over fewer of them, and spacings that differ from cell to cell.
//
// The former are inputs that statements of a random program read besides what they read.
#pragma once

#include "random_program.h"

namespace halo::test {

// In some programs of two or three axes, by numbers of their own, so that programs are otherwise the same.
// The grid must be made.
void add_fields_over_fewer_axes(RandomProgram& program, const GeneratorOptions& options);

// Axes whose cells are not equally far apart, in programs without points and coarser grids. Some boundaries
// become others, which such axes can have.
void stretch_axes(RandomProgram& program);

}  // namespace halo::test
