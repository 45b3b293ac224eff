#include "runtime/io/image.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "runtime/io/canvas.h"
#include "runtime/io/ticks.h"

namespace halo::rt {

namespace {

constexpr Colour kWhite{255, 255, 255}, kInk{40, 40, 48}, kGrid{225, 225, 230}, kCurve{36, 84, 164};
constexpr Colour kNotFinite{255, 0, 200};

constexpr int kLeast = 512;  // pixels of the longer side of a plane, at least
constexpr int kMost = 1536;  // and at most
constexpr int kNarrow = 48;  // of the shorter side, at least
constexpr int kMargin = 16, kGap = 8, kTick = 6, kBar = 22;
constexpr int kText = Canvas::kTextHeight;

struct ValueRange {
    double low = 0, high = 1;
    bool diverging = false;  // about zero
    bool grey = false;
    int colours = 0;  // as in Picture
    std::int64_t not_finite = 0;
};

ValueRange range_of(const std::vector<double>& values,
                    const std::optional<std::pair<double, double>>& given) {
    ValueRange range;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const double value : values) {
        if (!std::isfinite(value)) {
            ++range.not_finite;
            continue;
        }
        low = std::min(low, value);
        high = std::max(high, value);
    }
    if (low > high) low = high = 0;
    if (given) std::tie(low, high) = *given;
    range.low = low;
    range.high = high;
    return range;
}

// Of a plane: also which colours it has.
ValueRange range_of(const Picture& picture) {
    ValueRange range = range_of(picture.values, picture.range);
    range.grey = picture.map == PictureMap::grey;
    range.colours = picture.colours;
    // Signed data, unless one sign is a mere trace.
    const double reach = std::max(-range.low, range.high);
    range.diverging = picture.map == PictureMap::diverging ||
                      (picture.map == PictureMap::automatic && range.low < 0 && range.high > 0 &&
                       std::min(-range.low, range.high) >= 0.2 * reach);
    if (range.diverging && !picture.range) {
        range.low = -reach;
        range.high = reach;
    }
    return range;
}

// Of a place in the range, 0 to 1.
Colour colour_of(double place, const ValueRange& range) {
    const ColourMap& map = range.grey        ? ColourMap::grey()
                           : range.diverging ? ColourMap::diverging()
                                             : ColourMap::sequential();
    return range.colours > 0 ? map.nearest(place, range.colours) : map(place);
}

// Where a value lies in the range, 0 to 1; halves first, so that no difference overflows.
double part_of(double value, const ValueRange& range) {
    const double width = range.high / 2 - range.low / 2;
    return width > 0 ? (value / 2 - range.low / 2) / width : 0.5;
}

Colour colour_of_value(double value, const ValueRange& range) {
    return std::isfinite(value) ? colour_of(part_of(value, range), range) : kNotFinite;
}

void require_whole(const Picture& picture) {
    if (picture.width < 1 || picture.height < 1 ||
        picture.values.size() != static_cast<std::size_t>(picture.width * picture.height))
        throw std::logic_error("draw: the values are not width * height");
}

// The cells as they are shown: averaged over squares where there are too many.
struct Cells {
    std::int64_t width, height;
    std::int64_t by;  // cells along each side of a square
    std::vector<double> values;
};

Cells shrink(const Picture& picture) {
    const std::int64_t by = (std::max(picture.width, picture.height) + kMost - 1) / kMost;
    if (by == 1) return {picture.width, picture.height, 1, picture.values};
    Cells cells{(picture.width + by - 1) / by, (picture.height + by - 1) / by, by, {}};
    cells.values.reserve(static_cast<std::size_t>(cells.width * cells.height));
    for (std::int64_t y = 0; y < cells.height; ++y) {
        for (std::int64_t x = 0; x < cells.width; ++x) {
            double sum = 0;
            const std::int64_t x_end = std::min((x + 1) * by, picture.width);
            const std::int64_t y_end = std::min((y + 1) * by, picture.height);
            const auto count = static_cast<double>((x_end - x * by) * (y_end - y * by));
            for (std::int64_t row = y * by; row < y_end; ++row)
                for (std::int64_t column = x * by; column < x_end; ++column)
                    sum += picture.values[static_cast<std::size_t>(row * picture.width + column)] / count;
            cells.values.push_back(sum);  // one cell that is not finite shows
        }
    }
    return cells;
}

std::string label_of(const std::string& name, const Ticks& ticks) {
    return ticks.factor.empty() ? name : name + " (" + ticks.factor + ")";
}

int widest(const Ticks& ticks) {
    int width = 0;
    for (const Tick& tick : ticks.ticks)
        width = std::max(width, Canvas::text_width(tick.label));
    return width;
}

// A rectangle of the canvas, and how the coordinates of its axes map to pixels.
struct PixelBox {
    int x, y, width, height;
};

void label_across(Canvas& canvas, const PixelBox& box, const PictureAxis& axis, double first_pixel,
                  double last_pixel) {
    const int count = std::clamp(box.width / 110, 2, 8);
    const Ticks ticks = make_ticks(std::min(axis.first, axis.last), std::max(axis.first, axis.last), count);
    const int top = box.y + box.height;
    const double span = axis.last - axis.first;
    for (const Tick& tick : ticks.ticks) {
        const double part = span == 0 ? 0 : (tick.value - axis.first) / span;
        const int x = static_cast<int>(std::lround(std::lerp(first_pixel, last_pixel, part)));
        canvas.fill(x, top, 1, kTick, kInk);
        canvas.text(x, top + kTick + 4, tick.label, Canvas::Align::centre, kInk);
    }
    canvas.text(box.x + box.width / 2, top + kTick + kText + 12, label_of(axis.label, ticks),
                Canvas::Align::centre, kInk);
}

// Ticks of a vertical axis, labels to the left of x or to the right.
void label_up(Canvas& canvas, const Ticks& ticks, int x, bool to_the_right, double low, double high,
              double low_pixel, double high_pixel) {
    for (const Tick& tick : ticks.ticks) {
        const double part = part_of(tick.value, {.low = low, .high = high});
        const int y =
            static_cast<int>(std::lround(std::lerp(low_pixel, high_pixel, high == low ? 0.5 : part)));
        canvas.fill(to_the_right ? x : x - kTick, y, kTick, 1, kInk);
        const int text_x = to_the_right ? x + kTick + 4 : x - kTick - 4;
        canvas.text(text_x, y - kText / 2, tick.label,
                    to_the_right ? Canvas::Align::left : Canvas::Align::right, kInk);
    }
}

void draw_cells(Canvas& canvas, const PixelBox& box, const Cells& cells, int scale_x, int scale_y,
                const ValueRange& range) {
    for (std::int64_t y = 0; y < cells.height; ++y) {
        const int top = box.y + static_cast<int>(cells.height - 1 - y) * scale_y;
        for (std::int64_t x = 0; x < cells.width; ++x) {
            const double value = cells.values[static_cast<std::size_t>(y * cells.width + x)];
            canvas.fill(box.x + static_cast<int>(x) * scale_x, top, scale_x, scale_y,
                        colour_of_value(value, range));
        }
    }
    canvas.frame(box.x - 1, box.y - 1, box.width + 2, box.height + 2, kInk);
}

void draw_bar(Canvas& canvas, const PixelBox& bar, const ValueRange& range, const Ticks& ticks,
              const std::string& label) {
    for (int row = 0; row < bar.height; ++row)
        canvas.fill(bar.x, bar.y + row, bar.width, 1,
                    colour_of(1 - static_cast<double>(row) / std::max(1, bar.height - 1), range));
    canvas.frame(bar.x - 1, bar.y - 1, bar.width + 2, bar.height + 2, kInk);
    label_up(canvas, ticks, bar.x + bar.width + 1, true, range.low, range.high, bar.y + bar.height - 1,
             bar.y);
    canvas.text(bar.x, bar.y - kText - 10, label_of(label, ticks), Canvas::Align::left, kInk);
}

// Cells that are not finite leave a gap, with a mark at its foot. Past the box's upper and lower side nothing
// shows.
void draw_line(Canvas& canvas, const PixelBox& box, const std::vector<double>& values,
               const ValueRange& range) {
    const double last = std::max<double>(1, static_cast<double>(values.size()) - 1);
    const auto x_of = [&](std::size_t i) {
        return values.size() == 1 ? box.x + box.width / 2.0
                                  : box.x + (box.width - 1) * (static_cast<double>(i) / last);
    };
    const auto y_of = [&](double value) {
        return std::lerp(box.y + box.height - 1.0, box.y * 1.0, std::clamp(part_of(value, range), 0.0, 1.0));
    };
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) {
            canvas.fill(static_cast<int>(x_of(i)) - 1, box.y + box.height - 8, 3, 8, kNotFinite);
            continue;
        }
        const bool joined = i > 0 && std::isfinite(values[i - 1]);
        const bool alone = !joined && (i + 1 == values.size() || !std::isfinite(values[i + 1]));
        if (joined) canvas.line(x_of(i - 1), y_of(values[i - 1]), x_of(i), y_of(values[i]), 2, kCurve);
        if (alone) canvas.line(x_of(i), y_of(values[i]), x_of(i), y_of(values[i]), 4, kCurve);
    }
}

std::string count_not_finite(std::int64_t count) {
    return std::to_string(count) + (count == 1 ? " cell is" : " cells are") + " not finite (magenta)";
}

// A title's words that fit; a cut one ends in "..".
std::string fit(const std::string& words, int width) {
    if (Canvas::text_width(words) <= width) return words;
    std::string cut = words;
    while (!cut.empty() && Canvas::text_width(cut + "..") > width)
        cut.pop_back();
    return cut + "..";
}

}  // namespace

ColouredCells colour_cells(const Picture& picture) {
    require_whole(picture);
    const ValueRange range = range_of(picture);
    const Cells cells = shrink(picture);
    ColouredCells coloured;
    coloured.width = cells.width;
    coloured.height = cells.height;
    coloured.cells_per_pixel = cells.by;
    coloured.low = range.low;
    coloured.high = range.high;
    coloured.not_finite = range.not_finite;
    coloured.rgb.reserve(3 * cells.values.size());
    for (std::int64_t y = cells.height; y-- > 0;) {
        for (std::int64_t x = 0; x < cells.width; ++x) {
            const Colour colour =
                colour_of_value(cells.values[static_cast<std::size_t>(y * cells.width + x)], range);
            coloured.rgb.insert(coloured.rgb.end(), {colour.red, colour.green, colour.blue});
        }
    }
    for (int i = 0; i < 256; ++i)
        coloured.bar.push_back(colour_of(i / 255.0, range));
    return coloured;
}

Canvas draw(const Picture& picture) {
    require_whole(picture);
    const ValueRange range = range_of(picture);
    const Cells cells = shrink(picture);
    const auto longer = static_cast<int>(std::max(cells.width, cells.height));
    const int scale = (kLeast + longer - 1) / longer;
    const auto stretch = [&](std::int64_t side) {
        return std::max(scale, (kNarrow + static_cast<int>(side) - 1) / static_cast<int>(side));
    };
    const int scale_x = stretch(cells.width), scale_y = stretch(cells.height);
    PixelBox box{0, 0, static_cast<int>(cells.width) * scale_x, static_cast<int>(cells.height) * scale_y};

    const double up_low = std::min(picture.up.first, picture.up.last);
    const double up_high = std::max(picture.up.first, picture.up.last);
    const Ticks up = make_ticks(up_low, up_high, std::clamp(box.height / 70, 1, 8));
    const PixelBox bar{0, 0, kBar, std::max(box.height, 160)};
    const Ticks values = make_ticks(range.low, range.high, std::clamp(bar.height / 60, 2, 8));

    const int body = std::max(box.height, bar.height);
    const std::string up_label = label_of(picture.up.label, up);
    box.x = kMargin + std::max(widest(up), Canvas::text_width(up_label)) + kTick + kGap;
    box.y = kMargin + kText + 2 * kGap + kText + kGap;  // below the title and the labels of vertical axes
    const int bar_x = box.x + box.width + 3 * kGap;
    const int bar_width = std::max(kBar + kTick + 4 + widest(values),
                                   Canvas::text_width(label_of(picture.value_label, values)));
    const int width = std::max(bar_x + bar_width + kMargin, 360);
    const int note = range.not_finite > 0 ? kText + kGap : 0;
    const int height = box.y + body + kTick + 2 * kText + 14 + note + kMargin;

    Canvas canvas(width, height, kWhite);
    canvas.text(kMargin, kMargin, fit(picture.title, width - 2 * kMargin), Canvas::Align::left, kInk);
    draw_cells(canvas, box, cells, scale_x, scale_y, range);
    label_across(canvas, box, picture.across, box.x + (scale_x - 1) / 2.0,
                 box.x + box.width - 1 - (scale_x - 1) / 2.0);
    const double low_pixel = box.y + box.height - 1 - (scale_y - 1) / 2.0,
                 high_pixel = box.y + (scale_y - 1) / 2.0;
    const bool upward = picture.up.last >= picture.up.first;
    label_up(canvas, up, box.x - 1, false, up_low, up_high, upward ? low_pixel : high_pixel,
             upward ? high_pixel : low_pixel);
    canvas.text(box.x - kTick - 4, box.y - kText - 10, up_label, Canvas::Align::right, kInk);
    draw_bar(canvas, {bar_x, box.y, kBar, bar.height}, range, values, picture.value_label);
    if (range.not_finite > 0) {
        canvas.text(kMargin, height - kMargin - kText,
                    fit(count_not_finite(range.not_finite), width - 2 * kMargin), Canvas::Align::left,
                    kNotFinite);
    }
    return canvas;
}

Canvas draw(const Curve& curve) {
    if (curve.values.empty()) throw std::logic_error("draw: a curve without values");
    ValueRange range = range_of(curve.values, curve.range);
    if (!curve.range) {  // some room above and below
        const double air = range.high > range.low ? (range.high - range.low) * 0.05
                                                  : std::max(std::fabs(range.high) * 0.1, 1e-300);
        range.low -= air;
        range.high += air;
    }
    const Ticks up = make_ticks(range.low, range.high, 6);
    PixelBox box{0, kMargin + kText + 2 * kGap + kText + kGap, 800, 420};
    box.x =
        kMargin + std::max(widest(up), Canvas::text_width(label_of(curve.value_label, up))) + kTick + kGap;
    const int note = range.not_finite > 0 ? kText + kGap : 0;
    const int width = box.x + box.width + 2 * kMargin;
    const int height = box.y + box.height + kTick + 2 * kText + 14 + note + kMargin;
    Canvas canvas(width, height, kWhite);
    canvas.text(kMargin, kMargin, fit(curve.title, width - 2 * kMargin), Canvas::Align::left, kInk);

    const double low_pixel = box.y + box.height - 1, high_pixel = box.y;
    for (const Tick& tick : up.ticks) {
        const int y =
            static_cast<int>(std::lround(std::lerp(low_pixel, high_pixel, part_of(tick.value, range))));
        canvas.fill(box.x, y, box.width, 1, kGrid);
    }
    draw_line(canvas, box, curve.values, range);
    canvas.frame(box.x - 1, box.y - 1, box.width + 2, box.height + 2, kInk);
    label_across(canvas, box, curve.across, box.x, box.x + box.width - 1);
    label_up(canvas, up, box.x - 1, false, range.low, range.high, low_pixel, high_pixel);
    canvas.text(box.x - kTick - 4, box.y - kText - 10, label_of(curve.value_label, up), Canvas::Align::right,
                kInk);
    if (range.not_finite > 0) {
        canvas.text(kMargin, height - kMargin - kText,
                    fit(count_not_finite(range.not_finite), width - 2 * kMargin), Canvas::Align::left,
                    kNotFinite);
    }
    return canvas;
}

void write_picture(const std::string& path, const Picture& picture) {
    draw(picture).write_png(path);
}

void write_picture(const std::string& path, const Curve& curve) {
    draw(curve).write_png(path);
}

}  // namespace halo::rt
