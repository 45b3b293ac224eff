// An RGB picture in memory to draw on, and its PNG file. Pixel (0,0) is the top left corner; what lies
// outside is not drawn.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/io/colour_map.h"

namespace halo::rt {

class Canvas {
public:
    Canvas(int width, int height, Colour background);

    int width() const { return width_; }
    int height() const { return height_; }
    Colour at(int x, int y) const;

    void fill(int x, int y, int width, int height, Colour colour);
    void frame(int x, int y, int width, int height, Colour colour);  // its outline, one pixel wide, inside
    // A straight line between the centres of two pixels, smoothed at its edges.
    void line(double x0, double y0, double x1, double y1, double thickness, Colour colour);
    // Many of them, as one: where they join or cross no pixel is coloured twice.
    struct Line {
        double x0, y0, x1, y1;
    };
    void lines(const std::vector<Line>& lines, double thickness, Colour colour);

    // As the upper left part of another, or its upper left part.
    Canvas resized(int width, int height, Colour background) const;

    enum class Align : std::uint8_t { left, centre, right };
    // One line of text, its top at y; letters past ASCII are shown as '?'.
    void text(int x, int y, std::string_view words, Align align, Colour colour);
    static int text_width(std::string_view words);
    static constexpr int kTextHeight = 14;  // of capital letters

    std::vector<std::uint8_t> png() const;          // the bytes of a file
    void write_png(const std::string& path) const;  // whole or not at all; throws Error

private:
    // The parts of pixels that a line covers, those that are not 0: cover(x, y, part).
    template <class Cover>
    void rasterize(const Line& line, double thickness, const Cover& cover) const;
    void blend(int x, int y, Colour colour, double part);
    int width_, height_;
    std::vector<std::uint8_t> pixels_;
};

}  // namespace halo::rt
