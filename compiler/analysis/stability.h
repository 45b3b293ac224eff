// The largest stable time step of a linear scheme, by von Neumann's analysis.
//
// A scheme is stable where no wave grows: where the spectral radius of its amplification matrix
// (linear_scheme.h) is at most 1 for all waves. That is necessary for any boundaries; it is sufficient on an
// unbounded or periodic grid but for multiple eigenvalues of size 1 that grow as a power of the number of
// steps.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/analysis/linear_scheme.h"

namespace halo::analysis {

struct StabilityQuestion {
    RunValues values;
    std::vector<FrozenCell> cells;        // where factors that vary are frozen; at least one
    std::optional<ir::ParamId> searched;  // the param that is bounded: dt; it has a value
    bool only_where_unstable = false;     // search no bound where the value as it is is stable
    // At most about so many complex multiplications; beyond it, the answer is a refusal.
    double max_work = 2e9;
};

struct StabilityAnswer {
    enum class Kind : std::uint8_t {
        bounded,  // stable up to `bound`
        always,   // no value that was tried is unstable
        never,    // some wave grows whatever the value: by `growth` in each step as the values are
        as_it_is  // nothing is searched, or nothing depends on it: `growth` says what is so
    };
    Kind kind = Kind::as_it_is;
    double bound = 0;   // of bounded; rounded down by less than one part in a million
    double growth = 1;  // of the wave that grows most with the values as they are; 1 or less is stable
    LinearScheme::Angles
        wave{};  // that breaks first above the bound, or grows most: radians from cell to cell

    bool is_stable() const { return growth <= 1 + kGrowthTolerance; }
    static constexpr double kGrowthTolerance = 1e-11;
};

// `scheme` is frozen anew for each value and cell.
std::variant<StabilityAnswer, Refusal> find_stability(LinearScheme& scheme,
                                                      const StabilityQuestion& question);

// "alternates from cell to cell along x", "has 3.5 cells a wavelength along x and is constant along y"
std::string describe_wave(const LinearScheme::Angles& wave, const ir::Program& program,
                          const LinearScheme& scheme);

}  // namespace halo::analysis
