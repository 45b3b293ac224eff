// Work of which each rank does a part, and that is done where all have done theirs.
#pragma once

#include <functional>

#include "runtime/ranks/ranks.h"

namespace halo::rt {

// Collective. What `work` throws on one rank is thrown on all of them, as an Error; of several the first
// rank's. `work` calls nothing that is collective.
void together(Ranks& ranks, const std::function<void()>& work);

}  // namespace halo::rt
