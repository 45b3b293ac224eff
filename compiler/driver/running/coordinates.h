// Whether what is loaded lies where the grid has its cells.
#pragma once

#include "compiler/driver/running/request.h"

namespace halo::driver {

// Of a file of NetCDF, which says where its values lie: throws CommandError (file) where that is elsewhere
// than the cells of the grid, and of any HDF5 file where it says another unit than the stencil does. What the
// file, or the stencil, does not say is not checked.
void check_coordinates(const Load& load, const FieldSet& set, const ir::Program& program,
                       const RunRequest& request);

}  // namespace halo::driver
