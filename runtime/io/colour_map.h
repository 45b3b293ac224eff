// Numbers in [0, 1] to colours whose steps look even. Both maps go through a few anchors in Oklab (B.
// Ottosson, 2020), a space in which equal distances look about equal.
#pragma once

#include <array>
#include <cstdint>

namespace halo::rt {

struct Colour {
    std::uint8_t red = 0, green = 0, blue = 0;
    friend bool operator==(const Colour&, const Colour&) = default;
};

// Lightness, and the two axes green–red and blue–yellow.
struct Oklab {
    double lightness = 0, a = 0, b = 0;
};

Oklab to_oklab(Colour colour);
Colour to_colour(const Oklab& value);  // less colourful where sRGB has no such colour

class ColourMap {
public:
    static const ColourMap& sequential();  // dark blue, violet, green, yellow: lightness grows evenly
    static const ColourMap& diverging();   // blue, white at 0.5, red
    static const ColourMap& grey();        // black to white
    Colour operator()(double value) const { return table_[index(value)]; }  // clamped to [0, 1]
    // One of `count` >= 2 colours, evenly spaced from end to end: the nearest.
    Colour nearest(double value, int count) const;

private:
    static constexpr int kSize = 1024;
    static std::size_t index(double value);
    template <std::size_t n>
    explicit ColourMap(const std::array<std::array<double, 4>, n>& anchors);
    std::array<Colour, kSize> table_;
};

}  // namespace halo::rt
