#include "runtime/io/contours.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace halo::rt {

namespace {

struct Point {
    double x, y;
};

// The corners of a square, around it; side i goes from corner i to the next.
constexpr std::array<Point, 4> kCorners{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}};

}  // namespace

double PlaneValues::between(double x, double y) const {
    x = std::clamp(x, 0.0, static_cast<double>(width - 1));
    y = std::clamp(y, 0.0, static_cast<double>(height - 1));
    const auto left = static_cast<std::int64_t>(x), below = static_cast<std::int64_t>(y);
    const std::int64_t right = std::min(left + 1, width - 1), above = std::min(below + 1, height - 1);
    const double part = x - static_cast<double>(left);
    return std::lerp(std::lerp(at(left, below), at(right, below), part),
                     std::lerp(at(left, above), at(right, above), part), y - static_cast<double>(below));
}

std::vector<Segment> contour(const PlaneValues& plane, double level) {
    std::vector<Segment> lines;
    for (std::int64_t y = 0; y + 1 < plane.height; ++y) {
        for (std::int64_t x = 0; x + 1 < plane.width; ++x) {
            const std::array<double, 4> corner{plane.at(x, y), plane.at(x + 1, y), plane.at(x + 1, y + 1),
                                               plane.at(x, y + 1)};
            if (!std::ranges::all_of(corner, [](double value) { return std::isfinite(value); })) continue;
            std::vector<Point> crossed;  // sides, in order
            for (std::size_t side = 0; side < 4; ++side) {
                const std::size_t next = (side + 1) % 4;
                if ((corner[side] >= level) == (corner[next] >= level)) continue;
                const double part = (level / 2 - corner[side] / 2) / (corner[next] / 2 - corner[side] / 2);
                crossed.push_back(
                    {static_cast<double>(x) + std::lerp(kCorners[side].x, kCorners[next].x, part),
                     static_cast<double>(y) + std::lerp(kCorners[side].y, kCorners[next].y, part)});
            }
            // Of four sides two lines: each cuts off a corner that is unlike the middle.
            const double middle = corner[0] / 4 + corner[1] / 4 + corner[2] / 4 + corner[3] / 4;
            if (crossed.size() == 4 && (middle >= level) != (corner[0] >= level))
                std::ranges::rotate(crossed, crossed.begin() + 1);
            for (std::size_t i = 0; i + 1 < crossed.size(); i += 2)
                lines.push_back({crossed[i].x, crossed[i].y, crossed[i + 1].x, crossed[i + 1].y});
        }
    }
    return lines;
}

}  // namespace halo::rt
