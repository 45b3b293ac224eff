// What of a field a run saves: planes and ranges of cells along its axes, on the grid of the run.
#pragma once

#include <array>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/running/request.h"

namespace halo::driver {

// The cell nearest to a coordinate; -1 where none is near.
std::int64_t cell_at(const RunRequest& request, int axis, double position, const ir::Field& field);

// Sets the output's part, if it is one, as fields over fewer axes are. Throw CommandError (usage) where the
// grid does not have it. field: the first of those that are saved together.
void take_part(const RunRequest& request, const sema::Save& save, const ir::Field& field, Output& output);
void take_part(const RunRequest& request, const FileArgument& argument, const ir::Field& field,
               Output& output);

}  // namespace halo::driver
