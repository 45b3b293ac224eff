// Pictures of fields as PNG files: a plane of cells in colours, or a line of cells as a curve, with title,
// axes and a labelled colour bar. Small grids are enlarged (each cell a square of pixels), large ones
// averaged down. Over the colours may lie the contour lines of another field, and the arrows of two.
//
// Colours: a perceptual map from dark blue to yellow, or, for values of both signs, from blue over white to
// red with white at zero. Cells that are not finite are magenta, and their number is written below.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/io/canvas.h"
#include "runtime/io/colour_map.h"
#include "runtime/io/contours.h"

namespace halo::rt {

struct PictureAxis {
    std::string label;  // "x", "x [m]"
    double first = 0;   // coordinate of the first cell's centre, in the axis' unit
    double last = 0;    // and of the last cell's
};

// Which colours values get: by their signs, or those of one map in any case.
enum class PictureMap : std::uint8_t { automatic, sequential, diverging, grey };

// What lies over the colours of a picture, at coordinates of its own.
struct PlaneLayer {
    std::string label;
    PlaneValues plane;
    PictureAxis across, up;
};
struct Contours {
    PlaneLayer of;
    std::vector<double> levels;  // none: round numbers
};
struct Arrows {
    PlaneLayer across, up;  // their components along the axes
};

struct Picture {
    std::string title;           // "heat3d: u at z = 64, step 5000"
    std::int64_t width = 0;      // cells, >= 1
    std::int64_t height = 0;     // cells, >= 1
    std::vector<double> values;  // width * height, the row at the low end of `up` first
    PictureAxis across, up;
    std::string value_label;  // above the colour bar: "u"
    // The values at the colour bar's ends; found from the cells where not given.
    std::optional<std::pair<double, double>> range;
    PictureMap map = PictureMap::automatic;
    int colours = 0;           // of the colour map, at most so many: 2 or more; 0: all that it has
    bool logarithmic = false;  // the colour bar; a range is then positive
    std::optional<Contours> contours;
    std::optional<Arrows> arrows;
};

struct CurveLine {
    std::string label;                // is written where there are several lines
    std::vector<double> values;       // one or more
    double first = 0, last = 0;       // the coordinates of the first and of the last value
    std::vector<double> places = {};  // of each value, where they are not evenly spaced
};
struct Curve {
    std::string title;
    std::vector<CurveLine> lines;  // one or more
    PictureAxis across;            // all that is shown
    std::string value_label;
    std::optional<std::pair<double, double>> range;  // of the vertical axis
    bool logarithmic = false;                        // likewise
};

// The cells of a picture in the colours that draw() gives them, a pixel each, and what its colour bar says.
struct ColouredCells {
    std::int64_t width = 0, height = 0;  // pixels
    std::int64_t cells_per_pixel = 1;    // along each axis: of too many cells squares are averaged
    std::vector<std::uint8_t> rgb;       // three bytes a pixel, the top row first
    double low = 0, high = 0;            // at the ends of the colour bar
    std::vector<Colour> bar;             // 256, from low to high
    std::int64_t not_finite = 0;         // cells
};
ColouredCells colour_cells(const Picture& picture);

Canvas draw(const Picture& picture);
Canvas draw(const Curve& curve);

// The file appears whole or not at all. Throws Error (io) as write_npy does.
void write_picture(const std::string& path, const Picture& picture);
void write_picture(const std::string& path, const Curve& curve);

}  // namespace halo::rt
