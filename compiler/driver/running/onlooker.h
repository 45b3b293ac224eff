// Someone who looks at a run between its steps, may change its params, and may hold it: the page of a run
// that is shown live.
#pragma once

#include <cstdint>

#include "compiler/driver/running/engine.h"

namespace halo::driver {

class Onlooker {
public:
    virtual ~Onlooker() = default;

    // After so many steps, which took the engine so long, in the thread that drives it. Gives how many may
    // follow in one piece; 0: the run was interrupted while it waited.
    virtual std::int64_t look(Engine& engine, std::int64_t steps, double seconds) = 0;
};

}  // namespace halo::driver
