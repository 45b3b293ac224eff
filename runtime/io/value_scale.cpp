#include "runtime/io/value_scale.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace halo::rt {

double ValueScale::part_of(double value) const {
    if (logarithmic) {
        const double width = std::log10(high) - std::log10(low);
        if (!(width > 0)) return 0.5;
        return value > 0 ? (std::log10(value) - std::log10(low)) / width : 0;
    }
    const double width = high / 2 - low / 2;  // halves first, so that no difference overflows
    return width > 0 ? (value / 2 - low / 2) / width : 0.5;
}

Ticks ValueScale::ticks(int count) const {
    return logarithmic ? make_logarithmic_ticks(low, high, count) : make_ticks(low, high, count);
}

FoundScale scale_of(const std::vector<double>& values, const std::optional<std::pair<double, double>>& given,
                    bool logarithmic) {
    FoundScale found;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const double value : values) {
        if (!std::isfinite(value)) {
            ++found.not_finite;
            continue;
        }
        if (logarithmic && value <= 0) continue;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    if (low > high) low = high = logarithmic ? 1 : 0;
    if (logarithmic) low = std::max({low, high * kLogarithmicReach, std::numeric_limits<double>::min()});
    if (given) std::tie(low, high) = *given;
    found.scale = {low, std::max(low, high), logarithmic};
    return found;
}

}  // namespace halo::rt
