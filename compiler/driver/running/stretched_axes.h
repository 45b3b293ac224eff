// Axes whose cells are not equally far apart: where their cells lie in a run, and the numbers that steps read
// of that (ir/stretched_axis.h). Computed on the host, once for a run.
#pragma once

#include <map>

#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/request.h"

namespace halo::driver {

// By axis. The engine holds the fields of distances already. Throws rt::Error where a distance is not greater
// than 0.
std::map<int, ir::AxisPoints> points_of_axes(Engine& engine, const ir::Program& program,
                                             const RunRequest& request);

// Fills the hidden inputs of a program that runs on the grid's cells in `box`.
void fill_axis_tables(Engine& engine, const ir::Program& program, const std::map<int, ir::AxisPoints>& points,
                      const rt::Box& box);

}  // namespace halo::driver
