// Seconds between points of a program.
#pragma once

#include <chrono>
#include <utility>

namespace halo::driver {

class Stopwatch {
public:
    double lap() {  // since it was made, or since the last lap
        const Clock::time_point now = Clock::now();
        return std::chrono::duration<double>(now - std::exchange(start_, now)).count();
    }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

}  // namespace halo::driver
