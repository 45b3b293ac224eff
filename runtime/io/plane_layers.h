// What lies over the colours of a plane: contour lines and arrows.
#pragma once

#include <string>

#include "runtime/io/canvas.h"
#include "runtime/io/image.h"

namespace halo::rt {

// An axis of the picture, and the pixels of its first and last cell.
struct PixelAxis {
    const PictureAxis& axis;
    double first_pixel, last_pixel;

    double pixel(double coordinate) const;
    double coordinate(double pixel) const;
};

// Where the colours lie on the canvas.
struct PlanePlace {
    PixelAxis across, up;
    int x, y, width, height;
};

void draw_contours(Canvas& canvas, const PlanePlace& place, const Contours& contours);
// Evenly spaced, the longest as long as the space between them.
void draw_arrows(Canvas& canvas, const PlanePlace& place, const Arrows& arrows);

// What a line below the picture says of them.
std::string words_of(const Contours& contours);
std::string words_of(const Arrows& arrows);

}  // namespace halo::rt
