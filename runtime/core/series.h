// What a series gives at a number: the one definition, for the interpreter and for the host of kernels.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace halo::rt {

// `values` are those at 0, 1, …; between whole numbers it is linear, and past the ends it holds the first and
// the last value. NaN where there is no value, or no number to read at.
inline double series_value(std::span<const double> values, double at) {
    if (values.empty() || std::isnan(at)) return std::nan("");
    const std::size_t last = values.size() - 1;
    if (at <= 0) return values.front();
    if (at >= static_cast<double>(last)) return values.back();
    const double below = std::floor(at);
    const auto index = static_cast<std::size_t>(below);
    if (at == below) return values[index];
    return values[index] + (at - below) * (values[index + 1] - values[index]);
}

}  // namespace halo::rt
