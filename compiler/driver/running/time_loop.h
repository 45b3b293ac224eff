// The steps of a run, in pieces short enough for the progress line and Ctrl-C.
#pragma once

#include <cstdint>

#include "compiler/driver/console/console.h"
#include "compiler/driver/running/checkpoint.h"
#include "compiler/driver/running/onlooker.h"
#include "compiler/driver/running/outputs.h"
#include "compiler/driver/running/watch.h"

namespace halo::driver {

struct LoopResult {
    enum class Stop : std::uint8_t { steps, until, interrupted, not_finite };
    Stop stop = Stop::steps;
    std::int64_t steps = 0;  // done, those before a restart too
    double seconds = 0;      // in the engine, without files
    double output_seconds = 0;
};

// Collective. Runs, shows how far it is, and writes the files, those of the end too. before: steps that the
// engine goes on from. checkpoints: null where there are none; the last is written at the end, if all is
// finite. onlooker: null where there is none; it may change the request's params. Must run under an
// InterruptGuard.
LoopResult run_steps(Engine& engine, const RunRequest& request, std::int64_t before, Outputs& outputs,
                     Watch& watch, Checkpoints* checkpoints, Onlooker* onlooker, rt::Ranks& ranks,
                     const Console& console);

}  // namespace halo::driver
