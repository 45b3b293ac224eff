// Where values lie between the ends of a colour bar or of an axis: evenly, or by their logarithms.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/io/ticks.h"

namespace halo::rt {

struct ValueScale {
    double low = 0, high = 1;  // logarithmic: both positive
    bool logarithmic = false;

    // 0 at the low end, 1 at the high one; past them less or more. By logarithms what is not positive is at
    // the low end. A scale without a width has all in its middle.
    double part_of(double value) const;
    Ticks ticks(int count) const;  // about so many
};

// Of a logarithmic scale that no range is given for: how far below the greatest value it begins, at most.
inline constexpr double kLogarithmicReach = 1e-6;

// From the least to the greatest of the finite values, or as given; a logarithmic one of the positive ones.
struct FoundScale {
    ValueScale scale;
    std::int64_t not_finite = 0;
};
FoundScale scale_of(const std::vector<double>& values, const std::optional<std::pair<double, double>>& given,
                    bool logarithmic);

}  // namespace halo::rt
