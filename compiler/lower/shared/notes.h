// Comments that refer from a kernel back to the spec.
#pragma once

#include <functional>
#include <string>

#include "compiler/support/source.h"

namespace halo::lower {

// The comment above the code of a place in the spec; empty: none.
using Notes = std::function<std::string(SourceRange)>;

}  // namespace halo::lower
