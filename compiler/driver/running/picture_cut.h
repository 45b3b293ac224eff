// The plane of a field that a picture shows, on the grid of the run.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/console.h"
#include "compiler/driver/running/request.h"

namespace halo::driver {

// None where the whole grid, or all of a field over fewer axes, is shown; of three axes the middle of the
// last where nothing else is asked for. option: "--plot". Throws CommandError (usage) where the grid has no
// such plane.
std::optional<Cut> picture_cut(const RunRequest& request, const FileArgument& argument,
                               const std::string& option, const ir::Field& field);
// The run block's. On a grid of the command line it may lie outside; then the middle is shown, with a
// warning.
std::optional<Cut> picture_cut(const RunRequest& request, const sema::Plot& plot, const ir::Field& field,
                               const Console& console);

}  // namespace halo::driver
