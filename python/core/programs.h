// A Program as Python holds it.
#pragma once

#include "halocline/runtime.hpp"
#include "owned.h"

namespace halocline::python {

using OwnedProgram = Owned<Program>;
using OwnedCondition = Owned<Condition>;

}  // namespace halocline::python
