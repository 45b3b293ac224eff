#include "runtime/io/colour_map.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace halo::rt {

namespace {

constexpr double kPi = 3.14159265358979323846;

struct Linear {  // sRGB without its gamma
    double red, green, blue;
};

double to_linear(std::uint8_t channel) {
    const double value = channel / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

std::uint8_t to_channel(double linear) {
    const double value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
}

Linear linear_of(const Oklab& value) {
    const double l = value.lightness + 0.3963377774 * value.a + 0.2158037573 * value.b;
    const double m = value.lightness - 0.1055613458 * value.a - 0.0638541728 * value.b;
    const double s = value.lightness - 0.0894841775 * value.a - 1.2914855480 * value.b;
    const double l3 = l * l * l, m3 = m * m * m, s3 = s * s * s;
    return {4.0767416621 * l3 - 3.3077115913 * m3 + 0.2309699292 * s3,
            -1.2684380046 * l3 + 2.6097574011 * m3 - 0.3413193965 * s3,
            -0.0041960863 * l3 - 0.7034186147 * m3 + 1.7076147010 * s3};
}

bool in_gamut(const Linear& colour) {
    constexpr double kSlack = 1e-4;
    const auto fits = [](double channel) { return channel >= -kSlack && channel <= 1 + kSlack; };
    return fits(colour.red) && fits(colour.green) && fits(colour.blue);
}

}  // namespace

Oklab to_oklab(Colour colour) {
    const double red = to_linear(colour.red), green = to_linear(colour.green), blue = to_linear(colour.blue);
    const double l = std::cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
    const double m = std::cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
    const double s = std::cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
    return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
            1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

Colour to_colour(const Oklab& value) {
    double low = 0, high = 1;  // of the colourfulness kept: the first fits, the second may not
    if (!in_gamut(linear_of(value))) {
        for (int step = 0; step < 20; ++step) {
            const double middle = (low + high) / 2;
            (in_gamut(linear_of({value.lightness, value.a * middle, value.b * middle})) ? low : high) =
                middle;
        }
    } else {
        low = 1;
    }
    const Linear linear = linear_of({value.lightness, value.a * low, value.b * low});
    return {to_channel(linear.red), to_channel(linear.green), to_channel(linear.blue)};
}

std::size_t ColourMap::index(double value) {
    return static_cast<std::size_t>(std::lround(std::clamp(value, 0.0, 1.0) * (kSize - 1)));
}

Colour ColourMap::nearest(double value, int count) const {
    const double last = count - 1;
    return (*this)(std::round(std::clamp(value, 0.0, 1.0) * last) / last);
}

// Anchors: place, lightness, colourfulness, hue in degrees. Between them lightness and the colour plane are
// linear.
template <std::size_t n>
ColourMap::ColourMap(const std::array<std::array<double, 4>, n>& anchors) {
    const auto lab = [](const std::array<double, 4>& anchor) {
        const double hue = anchor[3] * kPi / 180;
        return Oklab{anchor[1], anchor[2] * std::cos(hue), anchor[2] * std::sin(hue)};
    };
    std::size_t segment = 0;
    for (int i = 0; i < kSize; ++i) {
        const double place = static_cast<double>(i) / (kSize - 1);
        while (segment + 2 < n && place > anchors[segment + 1][0])
            ++segment;
        const double part = (place - anchors[segment][0]) / (anchors[segment + 1][0] - anchors[segment][0]);
        const Oklab from = lab(anchors[segment]), to = lab(anchors[segment + 1]);
        table_[static_cast<std::size_t>(i)] =
            to_colour({std::lerp(from.lightness, to.lightness, part), std::lerp(from.a, to.a, part),
                       std::lerp(from.b, to.b, part)});
    }
}

const ColourMap& ColourMap::sequential() {
    static const ColourMap map(std::array<std::array<double, 4>, 7>{{{0, 0.20, 0.075, 285},
                                                                     {1 / 6.0, 0.325, 0.135, 290},
                                                                     {2 / 6.0, 0.45, 0.135, 262},
                                                                     {3 / 6.0, 0.575, 0.100, 215},
                                                                     {4 / 6.0, 0.70, 0.125, 165},
                                                                     {5 / 6.0, 0.825, 0.165, 128},
                                                                     {1, 0.95, 0.165, 105}}});
    return map;
}

const ColourMap& ColourMap::diverging() {
    static const ColourMap map(std::array<std::array<double, 4>, 7>{{{0, 0.30, 0.110, 262},
                                                                     {0.17, 0.48, 0.140, 255},
                                                                     {0.33, 0.74, 0.090, 245},
                                                                     {0.5, 0.97, 0, 0},
                                                                     {0.67, 0.74, 0.105, 45},
                                                                     {0.83, 0.48, 0.150, 30},
                                                                     {1, 0.30, 0.110, 22}}});
    return map;
}

const ColourMap& ColourMap::grey() {
    static const ColourMap map(std::array<std::array<double, 4>, 2>{{{0, 0, 0, 0}, {1, 1, 0, 0}}});
    return map;
}

}  // namespace halo::rt
