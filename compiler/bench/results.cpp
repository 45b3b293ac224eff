#include "compiler/bench/results.h"

#include <algorithm>

namespace halo::bench {

const Measurement* CaseResult::find(const std::string& variant) const {
    const auto found = std::find_if(measurements.begin(), measurements.end(),
                                    [&](const Measurement& each) { return each.variant == variant; });
    return found == measurements.end() ? nullptr : &*found;
}

double CaseResult::cells() const {
    return static_cast<double>(which.extent[0]) * static_cast<double>(which.extent[1]) *
           static_cast<double>(which.extent[2]);
}

double CaseResult::rate(const Measurement& measurement) const {
    if (measurement.seconds <= 0) return 0;
    const double terms = which.rows > 0 ? static_cast<double>(which.rows) : 1;
    return cells() * terms / measurement.seconds;
}

double CaseResult::bound(const MachineFacts& machine) const {
    if (which.section != Section::sums) return bytes_per_cell > 0 ? machine.copy() / bytes_per_cell : 0;
    constexpr double kCallsPerClock = 16;  // of the special function units of an SM
    const double calls = which.calls_per_term;
    return calls > 0 ? kCallsPerClock * machine.core_clock_ghz * 1e9 * machine.multiprocessors / calls : 0;
}

bool CaseResult::is_right() const {
    return std::all_of(measurements.begin(), measurements.end(),
                       [](const Measurement& each) { return each.wrong.empty(); });
}

}  // namespace halo::bench
