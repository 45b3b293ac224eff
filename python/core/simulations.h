#pragma once

#include "owned.h"
#include "held_simulation.h"

namespace halocline::python {

using OwnedSimulation = Owned<HeldSimulation>;

}  // namespace halocline::python
