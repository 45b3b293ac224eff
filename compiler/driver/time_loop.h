// The steps of a run, in pieces short enough for the progress line and Ctrl-C.
#pragma once

#include <cstdint>

#include "compiler/driver/console.h"
#include "compiler/driver/outputs.h"
#include "compiler/driver/watch.h"

namespace halo::driver {

struct LoopResult {
    enum class Stop : std::uint8_t { steps, until, interrupted, not_finite };
    Stop stop = Stop::steps;
    std::int64_t steps = 0;
    double seconds = 0;  // in the engine, without files
    double output_seconds = 0;
};

// Runs, shows how far it is, and writes the files, those of the end too. Must run under an InterruptGuard.
// Where several ranks share the run: collective.
LoopResult run_steps(Engine& engine, const RunRequest& request, Outputs& outputs, Watch& watch,
                     rt::Ranks& ranks, const Console& console);

}  // namespace halo::driver
