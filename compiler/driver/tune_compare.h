// What counts as a difference between what two engines have come to.
#pragma once

#include <string>

#include "compiler/driver/tune_inputs.h"

namespace halo::driver {

// Functions of a device may be a few units in the last place away from those of the host; sums depend on
// their order.
inline constexpr double kLibraryTolerance = 0x1p-18;

inline constexpr const char* kNothingToCompare =
    "there is nothing to compare: after the steps no cell is a number";

// A step reads a reduction, whose last bits depend on how blocks cut the grid.
bool reads_reductions(const ir::Program& program);

// How far results may differ from the interpreter's, relative to 1 and to themselves; 0: not at all.
double tolerance_of(const ir::Program& program);

// The first difference; empty where there is none. A cell that is no number in `expected` agrees with all.
std::string first_difference(const TuneResults& expected, const TuneResults& got, const Extent& extent,
                             double tolerance);

}  // namespace halo::driver
