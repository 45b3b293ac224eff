#include "runtime/io/image.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "runtime/io/canvas.h"
#include "runtime/io/plane_layers.h"
#include "runtime/io/ticks.h"
#include "runtime/io/value_scale.h"

namespace halo::rt {

namespace {

constexpr Colour kWhite{255, 255, 255}, kInk{40, 40, 48}, kGrid{225, 225, 230};
constexpr Colour kNotFinite{255, 0, 200};

constexpr int kLeast = 512;  // pixels of the longer side of a plane, at least
constexpr int kMost = 1536;  // and at most
constexpr int kNarrow = 48;  // of the shorter side, at least
constexpr int kMargin = 16, kGap = 8, kTick = 6, kBar = 22;
constexpr int kText = Canvas::kTextHeight;

// How the values of a plane become colours.
struct ValueRange {
    ValueScale scale;
    bool diverging = false;  // about zero
    bool grey = false;
    int colours = 0;  // as in Picture
    std::int64_t not_finite = 0;
};

ValueRange range_of(const Picture& picture) {
    const auto [scale, not_finite] = scale_of(picture.values, picture.range, picture.logarithmic);
    ValueRange range{scale};
    range.not_finite = not_finite;
    range.grey = picture.map == PictureMap::grey;
    range.colours = picture.colours;
    // Signed data, unless one sign is a mere trace.
    const double reach = std::max(-scale.low, scale.high);
    range.diverging = picture.map == PictureMap::diverging ||
                      (picture.map == PictureMap::automatic && scale.low < 0 && scale.high > 0 &&
                       std::min(-scale.low, scale.high) >= 0.2 * reach);
    if (range.diverging && !picture.range) {
        range.scale.low = -reach;
        range.scale.high = reach;
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

Colour colour_of_value(double value, const ValueRange& range) {
    return std::isfinite(value) ? colour_of(range.scale.part_of(value), range) : kNotFinite;
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
void label_up(Canvas& canvas, const Ticks& ticks, int x, bool to_the_right, const ValueScale& scale,
              double low_pixel, double high_pixel) {
    for (const Tick& tick : ticks.ticks) {
        const int y =
            static_cast<int>(std::lround(std::lerp(low_pixel, high_pixel, scale.part_of(tick.value))));
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
    label_up(canvas, ticks, bar.x + bar.width + 1, true, range.scale, bar.y + bar.height - 1, bar.y);
    canvas.text(bar.x, bar.y - kText - 10, label_of(label, ticks), Canvas::Align::left, kInk);
}

// Values that are not finite leave a gap, with a mark at its foot. Past the box's upper and lower side
// nothing shows.
void draw_line(Canvas& canvas, const PixelBox& box, const CurveLine& line, const PictureAxis& across,
               const ValueScale& scale, Colour colour) {
    const std::vector<double>& values = line.values;
    const double last = std::max<double>(1, static_cast<double>(values.size()) - 1);
    const double span = across.last - across.first;
    const auto x_of = [&](std::size_t i) {
        const double place = line.places.empty()
                                 ? std::lerp(line.first, line.last, static_cast<double>(i) / last)
                                 : line.places[i];
        return span == 0 ? box.x + box.width / 2.0
                         : box.x + (box.width - 1) * ((place - across.first) / span);
    };
    const auto y_of = [&](double value) {
        return std::lerp(box.y + box.height - 1.0, box.y * 1.0, std::clamp(scale.part_of(value), 0.0, 1.0));
    };
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) {
            canvas.fill(static_cast<int>(x_of(i)) - 1, box.y + box.height - 8, 3, 8, kNotFinite);
            continue;
        }
        const bool joined = i > 0 && std::isfinite(values[i - 1]);
        const bool alone = !joined && (i + 1 == values.size() || !std::isfinite(values[i + 1]));
        if (joined) canvas.line(x_of(i - 1), y_of(values[i - 1]), x_of(i), y_of(values[i]), 2, colour);
        if (alone) canvas.line(x_of(i), y_of(values[i]), x_of(i), y_of(values[i]), 4, colour);
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

struct Note {  // a line below the picture
    std::string words;
    Colour colour;
};

std::vector<Note> notes_of(const Picture& picture, std::int64_t not_finite) {
    std::vector<Note> notes;
    if (picture.contours) notes.push_back({words_of(*picture.contours), kInk});
    if (picture.arrows) notes.push_back({words_of(*picture.arrows), kInk});
    if (not_finite > 0) notes.push_back({count_not_finite(not_finite), kNotFinite});
    return notes;
}

int height_of(const std::vector<Note>& notes) {
    return static_cast<int>(notes.size()) * (kText + kGap);
}

void write_notes(Canvas& canvas, const std::vector<Note>& notes) {
    int y = canvas.height() - kMargin - height_of(notes) + kGap;
    for (const Note& note : notes) {
        canvas.text(kMargin, y, fit(note.words, canvas.width() - 2 * kMargin), Canvas::Align::left,
                    note.colour);
        y += kText + kGap;
    }
}

// Colours that differ also in lightness.
constexpr std::array<Colour, 6> kCurves{
    {{36, 84, 164}, {214, 96, 20}, {30, 140, 90}, {150, 40, 130}, {120, 120, 130}, {170, 130, 0}}};

FoundScale scale_of_lines(const Curve& curve) {
    std::vector<double> values;
    for (const CurveLine& line : curve.lines)
        values.insert(values.end(), line.values.begin(), line.values.end());
    if (values.empty()) throw std::logic_error("draw: a curve without values");
    return scale_of(values, curve.range, curve.logarithmic);
}

// Some room above and below.
void add_air(ValueScale& scale) {
    if (scale.logarithmic) {
        const double factor = std::max(std::pow(scale.high / scale.low, 0.05), 1.05);
        scale.low /= factor;
        scale.high *= factor;
        return;
    }
    const double air = scale.high > scale.low ? (scale.high - scale.low) * 0.05
                                              : std::max(std::fabs(scale.high) * 0.1, 1e-300);
    scale.low -= air;
    scale.high += air;
}

// Those that fit.
void write_names(Canvas& canvas, const Curve& curve, int x, int y) {
    constexpr int kStroke = 24;
    for (std::size_t i = 0; i < curve.lines.size(); ++i) {
        const std::string name =
            fit(curve.lines[i].label, std::max(0, canvas.width() - kMargin - x - kStroke - kGap));
        canvas.fill(x, y + kText / 2 - 1, kStroke, 3, kCurves[i % kCurves.size()]);
        canvas.text(x + kStroke + kGap, y, name, Canvas::Align::left, kInk);
        x += kStroke + 2 * kGap + Canvas::text_width(name) + 2 * kGap;
    }
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
    coloured.low = range.scale.low;
    coloured.high = range.scale.high;
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
    const Ticks values = range.scale.ticks(std::clamp(bar.height / 60, 2, 8));

    const int body = std::max(box.height, bar.height);
    const std::string up_label = label_of(picture.up.label, up);
    box.x = kMargin + std::max(widest(up), Canvas::text_width(up_label)) + kTick + kGap;
    box.y = kMargin + kText + 2 * kGap + kText + kGap;  // below the title and the labels of vertical axes
    const int bar_x = box.x + box.width + 3 * kGap;
    const int bar_width = std::max(kBar + kTick + 4 + widest(values),
                                   Canvas::text_width(label_of(picture.value_label, values)));
    const int width = std::max(bar_x + bar_width + kMargin, 360);
    const std::vector<Note> notes = notes_of(picture, range.not_finite);
    const int height = box.y + body + kTick + 2 * kText + 14 + height_of(notes) + kMargin;

    Canvas canvas(width, height, kWhite);
    canvas.text(kMargin, kMargin, fit(picture.title, width - 2 * kMargin), Canvas::Align::left, kInk);
    draw_cells(canvas, box, cells, scale_x, scale_y, range);
    const double first_pixel = box.x + (scale_x - 1) / 2.0,
                 last_pixel = box.x + box.width - 1 - (scale_x - 1) / 2.0;
    label_across(canvas, box, picture.across, first_pixel, last_pixel);
    const double low_pixel = box.y + box.height - 1 - (scale_y - 1) / 2.0,
                 high_pixel = box.y + (scale_y - 1) / 2.0;
    const bool upward = picture.up.last >= picture.up.first;
    label_up(canvas, up, box.x - 1, false, {up_low, up_high}, upward ? low_pixel : high_pixel,
             upward ? high_pixel : low_pixel);
    const PlanePlace place{{picture.across, first_pixel, last_pixel},
                           {picture.up, low_pixel, high_pixel},
                           box.x,
                           box.y,
                           box.width,
                           box.height};
    if (picture.contours) draw_contours(canvas, place, *picture.contours);
    if (picture.arrows) draw_arrows(canvas, place, *picture.arrows);
    canvas.text(box.x - kTick - 4, box.y - kText - 10, up_label, Canvas::Align::right, kInk);
    draw_bar(canvas, {bar_x, box.y, kBar, bar.height}, range, values, picture.value_label);
    write_notes(canvas, notes);
    return canvas;
}

Canvas draw(const Curve& curve) {
    FoundScale found = scale_of_lines(curve);
    ValueScale& scale = found.scale;
    if (!curve.range) add_air(scale);
    const Ticks up = scale.ticks(6);
    const std::string up_label = label_of(curve.value_label, up);
    const int names = curve.lines.size() > 1 ? kText + 2 * kGap : 0;  // of the lines, below the title
    PixelBox box{0, kMargin + kText + 2 * kGap + names + kText + kGap, 800, 420};
    box.x = kMargin + std::max(widest(up), Canvas::text_width(up_label)) + kTick + kGap;
    std::vector<Note> notes;
    if (found.not_finite > 0) notes.push_back({count_not_finite(found.not_finite), kNotFinite});
    const int width = box.x + box.width + 2 * kMargin;
    const int height = box.y + box.height + kTick + 2 * kText + 14 + height_of(notes) + kMargin;
    Canvas canvas(width, height, kWhite);
    canvas.text(kMargin, kMargin, fit(curve.title, width - 2 * kMargin), Canvas::Align::left, kInk);
    if (names > 0) write_names(canvas, curve, box.x, kMargin + kText + 2 * kGap);

    const double low_pixel = box.y + box.height - 1, high_pixel = box.y;
    for (const Tick& tick : up.ticks) {
        const int y =
            static_cast<int>(std::lround(std::lerp(low_pixel, high_pixel, scale.part_of(tick.value))));
        canvas.fill(box.x, y, box.width, 1, kGrid);
    }
    for (std::size_t i = curve.lines.size(); i-- > 0;)  // the first on top
        draw_line(canvas, box, curve.lines[i], curve.across, scale, kCurves[i % kCurves.size()]);
    canvas.frame(box.x - 1, box.y - 1, box.width + 2, box.height + 2, kInk);
    label_across(canvas, box, curve.across, box.x, box.x + box.width - 1);
    label_up(canvas, up, box.x - 1, false, scale, low_pixel, high_pixel);
    canvas.text(box.x - kTick - 4, box.y - kText - 10, up_label, Canvas::Align::right, kInk);
    write_notes(canvas, notes);
    return canvas;
}

void write_picture(const std::string& path, const Picture& picture) {
    draw(picture).write_png(path);
}

void write_picture(const std::string& path, const Curve& curve) {
    draw(curve).write_png(path);
}

}  // namespace halo::rt
