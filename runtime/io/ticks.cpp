#include "runtime/io/ticks.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace halo::rt {

namespace {

double round_step(double rough) {
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (rough <= factor * power * (1 + 1e-9)) return factor * power;
    return 10 * power;
}

std::string print(double value, int decimals) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", decimals, value == 0 ? 0.0 : value);
    return text;
}

}  // namespace

Ticks make_ticks(double low, double high, int count) {
    Ticks made;
    const double greatest = std::max(std::fabs(low), std::fabs(high));
    // Values this close to each other cannot be told apart with the digits of a double.
    const bool flat = !(high - low > 1e-13 * greatest) || !std::isfinite(high - low);
    const int exponent = greatest > 0 ? static_cast<int>(std::floor(std::log10(greatest))) : 0;
    const bool scaled = exponent >= 5 || exponent < -3;
    const double unit = scaled ? std::pow(10, exponent) : 1;
    if (scaled) made.factor = "x1e" + std::to_string(exponent);
    if (flat) {
        made.ticks.push_back({low, print(low / unit, scaled ? 4 : std::max(0, 4 - exponent))});
        return made;
    }
    const double step = round_step((high - low) / std::max(count, 1));
    const double unit_step = step / unit;
    const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(unit_step) - 1e-9)), 0, 12);
    // Counted in steps, so that no rounding adds up.
    const double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);
    for (double number = first; number <= last; ++number)
        made.ticks.push_back({number * step, print(number * unit_step, decimals)});
    return made;
}

Ticks make_logarithmic_ticks(double low, double high, int count) {
    const auto first = static_cast<int>(std::floor(std::log10(low))),
               last = static_cast<int>(std::ceil(std::log10(high)));
    const int decades = last - first;
    const bool has_parts = decades <= count / 2;
    const int stride = std::max(1, (decades + count - 1) / std::max(count, 1));
    Ticks made;
    for (int exponent = first; exponent <= last; ++exponent) {
        if (exponent % stride != 0) continue;
        for (const int factor : {1, 2, 5}) {
            if (factor > 1 && !has_parts) break;
            // Read from its digits, as no product of powers is the nearest number.
            const std::string label = std::to_string(factor) + "e" + std::to_string(exponent);
            const double value = std::strtod(label.c_str(), nullptr);
            if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
            made.ticks.push_back({value, label});
        }
    }
    return made.ticks.size() < 2 ? make_ticks(low, high, count) : made;
}

}  // namespace halo::rt
