#include "compiler/ir/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halo::ir {

namespace {

// To a binary format with that many bits of mantissa, its leading one included.
double rounded_to(double value, int mantissa, int least_exponent, double largest) {
    if (!std::isfinite(value) || value == 0) return value;
    int exponent = 0;
    std::frexp(value, &exponent);  // |value| is in [2^(exponent-1), 2^exponent)
    const int step = std::max(exponent - mantissa, least_exponent);
    const double result = std::ldexp(std::nearbyint(std::ldexp(value, -step)), step);
    return std::fabs(result) > largest ? std::copysign(std::numeric_limits<double>::infinity(), value)
                                       : result;
}

}  // namespace

template <class Integer, class From>
Integer to_integer(From value) {
    constexpr Integer kLeast = std::numeric_limits<Integer>::min();
    constexpr Integer kMost = std::numeric_limits<Integer>::max();
    if constexpr (std::is_integral_v<From>) {
        if (value < kLeast) return kLeast;
        return value > kMost ? kMost : static_cast<Integer>(value);
    } else {
        if (std::isnan(value)) return 0;
        const From nearest = std::nearbyint(value);
        if (nearest < static_cast<From>(kLeast)) return kLeast;
        // The largest integer itself may be none of From's numbers: its successor is.
        if (nearest >= -static_cast<From>(kLeast)) return kMost;
        return static_cast<Integer>(nearest);
    }
}

template std::int32_t to_integer(float);
template std::int32_t to_integer(double);
template std::int32_t to_integer(std::int64_t);
template std::int64_t to_integer(float);
template std::int64_t to_integer(double);

double stored(double value, Storage storage) {
    switch (storage) {
        case Storage::boolean:
            return value != 0 ? 1 : 0;
        case Storage::u8: {
            const std::int32_t whole = to_integer<std::int32_t>(value);
            return whole < 0 ? 0 : whole > 255 ? 255 : whole;
        }
        case Storage::i32:
            return to_integer<std::int32_t>(value);
        case Storage::f16:
            return rounded_to(static_cast<float>(value), 11, -24, 65504);
        case Storage::bf16:
            return rounded_to(static_cast<float>(value), 8, -133, 0x1.fep127);
        case Storage::f32:
            return static_cast<float>(value);
        case Storage::i64:
        case Storage::f64:
            break;
    }
    return value;
}

}  // namespace halo::ir
