// Comments that lead from a kernel back to the spec.
#pragma once

#include <functional>
#include <string>

#include "compiler/support/source.h"

namespace halo::lower {

// What is said of a place in the spec, above what has become of it; empty: nothing.
using Notes = std::function<std::string(SourceRange)>;

}  // namespace halo::lower
