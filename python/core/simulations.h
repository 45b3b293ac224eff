#pragma once

#include "held_simulation.h"
#include "owned.h"

namespace halocline::python {

using OwnedSimulation = Owned<HeldSimulation>;

}  // namespace halocline::python
