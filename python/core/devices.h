// A Device as Python holds it.
#pragma once

#include "halocline/runtime.hpp"
#include "owned.h"

namespace halocline::python {

using OwnedDevice = Owned<Device>;

// The number of "cuda:1"; 0 of "cpu".
int ordinal_of(const Device& device);

}  // namespace halocline::python
