// How time grows: that of a step with the grid, that of compiling with the program.
#pragma once

#include <functional>
#include <string>

#include "compiler/bench/lab.h"
#include "compiler/bench/results.h"

namespace halo::bench {

using Report = std::function<void(const std::string&)>;  // a line on what has been measured

// The 3D 7-point star in f32, by the schedule chosen for each grid: powers of two, their neighbours and a few
// between. Grids that do not fit into the device's memory are left out, and `results.missing` says so.
void measure_grids(Lab& lab, Results& results, const Report& report);

// From text to CUDA (or C++, where the lab is a CPU), part by part; and to machine code up to some length.
CompileGrowth measure_compile(Lab* lab, const std::string& shape, int statements);
void measure_compiles(Lab& lab, Results& results, const Report& report);

}  // namespace halo::bench
