// The plane of a field that a picture shows, on the grid of the run.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/console.h"
#include "compiler/driver/running/request.h"

namespace halo::driver {

// None where the whole grid, or all of a field over fewer axes, is shown; of three axes and more, what is
// asked for, and the middle of the last of those that are left, until two are. option: "--plot". Throws
// CommandError (usage) where the grid has no such plane.
std::vector<Cut> picture_cuts(const RunRequest& request, const FileArgument& argument,
                              const std::string& option, const ir::Field& field);
// The run block's. On a grid of the command line it may lie outside; then the middle is shown, with a
// warning.
std::vector<Cut> picture_cuts(const RunRequest& request, const sema::Plot& plot, const ir::Field& field,
                              const Console& console);

}  // namespace halo::driver
