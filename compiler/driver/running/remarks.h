// What a user is told of a run or a spec that is right and may be not what was meant.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/running/machine.h"
#include "compiler/driver/running/request.h"
#include "compiler/sema/sema.h"

namespace halo::driver {

// The line that a run begins with: its grid, steps and device.
void announce(const RunRequest& request, const Machine& machine, const Console& console);

// Fields that start at 0 because nothing fills them; empty where there are none.
std::string zeros_note(const std::vector<std::string>& fields);

// Faces for which no boundary is written, where that leaves cells of a state as they are; empty where none
// does.
std::string boundary_note(const sema::AnalyzedStencil& stencil);

}  // namespace halo::driver
