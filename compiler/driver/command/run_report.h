// What a run says of itself at its end: text for people, or JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/driver/command/iterations.h"
#include "compiler/driver/running/machine.h"
#include "compiler/driver/running/outputs.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/running/time_loop.h"

namespace halo::driver {

struct RunTimings {
    double read = 0;   // the file
    double check = 0;  // from its text to what is to be run
    double open = 0;   // the device
    LoadTimings load;
    double init = 0;  // making initial data, with programs of their own
    double upload = 0;
    double stability = 0;  // the check of the scheme's stability with these numbers
    double watch = 0;      // checks that all is finite
};

struct RunReport {
    const RunRequest& request;
    const Machine& machine;
    const RunTimings& timings;
    const LoopResult& loop;
    const std::vector<WrittenFile>& files;
    rt::AsyncBlock async_block;
    Reductions reductions;
    std::vector<rt::RepeatCounts> repeats;
    std::int64_t steps_before = 0;  // of those in `loop`, what a run before this one did
    std::string checkpoint;         // the newest; empty where none was written

    std::int64_t steps_here() const { return loop.steps - steps_before; }
    // That the steps took, and the checks of what they gave.
    double seconds() const { return loop.seconds + timings.watch; }
    double rate() const {
        if (seconds() <= 0) return 0;
        return static_cast<double>(cell_count(request.extent)) * static_cast<double>(steps_here()) /
               seconds();
    }
};

// with_timings: and where the time went.
std::string report_text(const RunReport& report, bool with_timings);
std::string run_json(const RunReport& report);

}  // namespace halo::driver
