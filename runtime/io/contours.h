// Lines along which values on a plane of points have one value, by marching squares: between points values
// are interpolated.
#pragma once

#include <cstdint>
#include <vector>

namespace halo::rt {

struct PlaneValues {  // the row at the low end first
    std::int64_t width = 0, height = 0;
    std::vector<double> values;

    double at(std::int64_t x, std::int64_t y) const {
        return values[static_cast<std::size_t>(y * width + x)];
    }
    // Between points, which are at whole numbers; those past the plane's sides are as at them.
    double between(double x, double y) const;
};

struct Segment {  // of a line, in numbers of points
    double x0, y0, x1, y1;
};

// None passes between points of which one is not finite.
std::vector<Segment> contour(const PlaneValues& plane, double level);

}  // namespace halo::rt
