// How far a run is, as a StatusLine.
//
//   heat3d   42 % ━━━━━━━━━━━━━━          2100 of 5000 steps   312 GStencil/s   3 s left
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "compiler/driver/console/console.h"
#include "compiler/driver/console/status_line.h"

namespace halo::driver {

class Progress {
public:
    // cells: of the grid, for the rate. steps: of the whole run, >= 0. before: of these, what was done before
    // this process began.
    Progress(const Console& console, std::string name, std::int64_t cells, std::int64_t steps,
             std::int64_t before = 0);

    void update(std::int64_t steps_done);  // steps_done never falls
    void clear();                          // takes the line off the terminal, so that messages can be written

private:
    using Clock = std::chrono::steady_clock;

    std::string line(double seconds, bool with_bar) const;

    const Console& console_;
    StatusLine status_;
    std::string name_;
    std::int64_t cells_;
    std::int64_t steps_;
    std::int64_t before_;
    std::int64_t done_ = 0;
    Clock::time_point start_;
};

// "312 GStencil/s", "0.0042 GStencil/s"; three significant digits.
std::string format_rate(double cells_per_second);
// "850 ms", "12.3 s", "4 min 05 s", "2 h 10 min"
std::string format_seconds(double seconds);
// Of one step: "3.84 µs", "2.5 ms"; three significant digits.
std::string format_step_time(double seconds);
// "512 B", "8.4 MB", "1.07 GB" (powers of ten)
std::string format_bytes(double bytes);

}  // namespace halo::driver
