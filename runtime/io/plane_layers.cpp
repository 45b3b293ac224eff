#include "runtime/io/plane_layers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <optional>
#include <vector>

#include "runtime/io/ticks.h"

namespace halo::rt {

namespace {

constexpr Colour kDark{30, 30, 36}, kLight{255, 255, 255};
constexpr int kArrowSpace = 32;    // pixels from one arrow to the next, at least
constexpr int kContourCount = 12;  // of lines, about

std::string number_text(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value == 0 ? 0.0 : value);
    return text;
}

double place_of(double index, std::int64_t count, const PictureAxis& axis) {
    return count < 2 ? axis.first : std::lerp(axis.first, axis.last, index / static_cast<double>(count - 1));
}

double index_of(double coordinate, std::int64_t count, const PictureAxis& axis) {
    if (count < 2 || axis.first == axis.last) return 0;
    return (coordinate - axis.first) / (axis.last - axis.first) * static_cast<double>(count - 1);
}

double value_at(const PlaneLayer& layer, double x, double y) {
    return layer.plane.between(index_of(x, layer.plane.width, layer.across),
                               index_of(y, layer.plane.height, layer.up));
}

using Line = Canvas::Line;

// What of a line lies where the colours are.
std::optional<Line> clip(const Line& line, const PlanePlace& place) {
    double begin = 0, end = 1;
    const auto cut = [&](double from, double to, double low, double high) {
        if (from == to) return from >= low && from <= high;
        const double one = (low - from) / (to - from), other = (high - from) / (to - from);
        begin = std::max(begin, std::min(one, other));
        end = std::min(end, std::max(one, other));
        return begin <= end;
    };
    if (!cut(line.x0, line.x1, place.x, place.x + place.width - 1) ||
        !cut(line.y0, line.y1, place.y, place.y + place.height - 1))
        return std::nullopt;
    return Line{std::lerp(line.x0, line.x1, begin), std::lerp(line.y0, line.y1, begin),
                std::lerp(line.x0, line.x1, end), std::lerp(line.y0, line.y1, end)};
}

// Dark lines with a light edge, which show on all colours.
void draw_lines(Canvas& canvas, const PlanePlace& place, const std::vector<Line>& lines, double thickness) {
    std::vector<Line> shown;
    for (const Line& line : lines)
        if (const std::optional<Line> inside = clip(line, place)) shown.push_back(*inside);
    canvas.lines(shown, thickness + 1.4, kLight);
    canvas.lines(shown, thickness, kDark);
}

std::vector<double> levels_of(const Contours& contours) {
    if (!contours.levels.empty()) return contours.levels;
    std::vector<double> finite;
    std::ranges::copy_if(contours.of.plane.values, std::back_inserter(finite),
                         [](double value) { return std::isfinite(value); });
    if (finite.empty()) return {};
    const auto [low, high] = std::ranges::minmax(finite);
    std::vector<double> levels;
    for (const Tick& tick : make_ticks(low, high, kContourCount).ticks)
        if (tick.value > low && tick.value < high) levels.push_back(tick.value);
    return levels;
}

// Of all arrows that could be drawn.
double greatest_length(const Arrows& arrows) {
    const PlaneLayer& across = arrows.across;
    double greatest = 0;
    for (std::int64_t j = 0; j < across.plane.height; ++j) {
        for (std::int64_t i = 0; i < across.plane.width; ++i) {
            const double x = place_of(static_cast<double>(i), across.plane.width, across.across);
            const double y = place_of(static_cast<double>(j), across.plane.height, across.up);
            const double length = std::hypot(across.plane.at(i, j), value_at(arrows.up, x, y));
            if (std::isfinite(length)) greatest = std::max(greatest, length);
        }
    }
    return greatest;
}

}  // namespace

double PixelAxis::pixel(double coordinate) const {
    if (axis.first == axis.last) return (first_pixel + last_pixel) / 2;
    return std::lerp(first_pixel, last_pixel, (coordinate - axis.first) / (axis.last - axis.first));
}

double PixelAxis::coordinate(double pixel) const {
    if (first_pixel == last_pixel) return axis.first;
    return std::lerp(axis.first, axis.last, (pixel - first_pixel) / (last_pixel - first_pixel));
}

void draw_contours(Canvas& canvas, const PlanePlace& place, const Contours& contours) {
    const PlaneLayer& of = contours.of;
    std::vector<Line> lines;
    const auto x_of = [&](double i) { return place.across.pixel(place_of(i, of.plane.width, of.across)); };
    const auto y_of = [&](double j) { return place.up.pixel(place_of(j, of.plane.height, of.up)); };
    for (const double level : levels_of(contours))
        for (const Segment& part : contour(of.plane, level))
            lines.push_back({x_of(part.x0), y_of(part.y0), x_of(part.x1), y_of(part.y1)});
    draw_lines(canvas, place, lines, 1.2);
}

void draw_arrows(Canvas& canvas, const PlanePlace& place, const Arrows& arrows) {
    const double greatest = greatest_length(arrows);
    if (greatest == 0) return;
    const int columns = std::max(1, place.width / kArrowSpace),
              rows = std::max(1, place.height / kArrowSpace);
    const double space = std::min(place.width / columns, place.height / rows);
    const double to_the_right = place.across.axis.last >= place.across.axis.first ? 1 : -1;
    const double upwards = place.up.axis.last >= place.up.axis.first ? 1 : -1;
    std::vector<Line> lines;
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
            const double x = place.x - 0.5 + (column + 0.5) * place.width / columns;
            const double y = place.y - 0.5 + (row + 0.5) * place.height / rows;
            const double at_x = place.across.coordinate(x), at_y = place.up.coordinate(y);
            const double dx = to_the_right * value_at(arrows.across, at_x, at_y) / greatest * space;
            const double dy = -upwards * value_at(arrows.up, at_x, at_y) / greatest * space;
            const double length = std::hypot(dx, dy);
            if (!std::isfinite(length) || length < 1) continue;  // no direction would show
            const double x1 = x + dx / 2, y1 = y + dy / 2;
            lines.push_back({x - dx / 2, y - dy / 2, x1, y1});
            const double head = std::min(0.4 * length, 8.0) / length;
            for (const double side : {0.5, -0.5})
                lines.push_back({x1, y1, x1 - head * (dx - side * dy), y1 - head * (dy + side * dx)});
        }
    }
    draw_lines(canvas, place, lines, 1.4);
}

std::string words_of(const Contours& contours) {
    const std::string& name = contours.of.label;
    const std::vector<double> levels = levels_of(contours);
    if (levels.empty()) return "no line of " + name + ": it is the same everywhere";
    std::string words = "lines of " + name + ": ";
    if (contours.levels.empty() && levels.size() > 2)
        return words + number_text(levels.front()) + " to " + number_text(levels.back()) + ", every " +
               number_text(levels[1] - levels[0]);
    for (std::size_t i = 0; i < levels.size(); ++i)
        words += (i > 0 ? ", " : "") + number_text(levels[i]);
    return words;
}

std::string words_of(const Arrows& arrows) {
    const double greatest = greatest_length(arrows);
    const std::string names = arrows.across.label + ", " + arrows.up.label;
    if (greatest == 0) return "no arrow of " + names + ": they are zero";
    return "arrows of " + names + ": the longest is " + number_text(greatest);
}

}  // namespace halo::rt
