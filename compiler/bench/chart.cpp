#include "compiler/bench/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace halo::bench {

const rt::Colour kChartInk{0x22, 0x22, 0x22}, kChartBlue{0x1f, 0x5f, 0xb4}, kChartOrange{0xd9, 0x5f, 0x02},
    kChartGreen{0x1b, 0x8a, 0x5a}, kChartGrey{0x9a, 0x9a, 0x9a}, kChartWhite{0xff, 0xff, 0xff};

namespace {

using rt::Canvas;
using rt::Colour;

constexpr Colour kGrid{0xe4, 0xe4, 0xe4};
constexpr int kText = Canvas::kTextHeight;
constexpr int kTick = 6;

// 0.05, 2, 20k, 5M
std::string short_number(double value) {
    static constexpr std::array<const char*, 5> kUnits{"", "k", "M", "G", "T"};
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < kUnits.size()) {
        value /= 1000;
        ++unit;
    }
    return fmt::format("{:g}{}", value, kUnits[unit]);
}

struct Mapping {
    const ChartBox& box;
    const Chart& chart;
    double x(double value) const {
        return box.x + (box.width - 1) * std::log(value / chart.x_low) / std::log(chart.x_high / chart.x_low);
    }
    double y(double value) const {
        return box.y +
               (box.height - 1) * std::log(chart.y_high / value) / std::log(chart.y_high / chart.y_low);
    }
};

// The factors of the powers of ten at which an axis has ticks: more of them for a shorter range.
std::vector<double> tick_factors(double decades) {
    if (decades > 5) return {1};
    if (decades > 1.2) return {1, 2, 5};
    if (decades > 0.4) return {1, 1.5, 2, 3, 4, 5, 6, 8};
    return {1, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9, 9.5};
}

std::vector<double> ticks(double low, double high) {
    const std::vector<double> factors = tick_factors(std::log10(high / low));
    std::vector<double> values;
    for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10) {
        for (const double factor : factors) {
            const double value = factor * power;
            if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
            values.push_back(value);
        }
    }
    return values;
}

void draw_axes(Canvas& canvas, const Mapping& map) {
    const ChartBox& box = map.box;
    for (const double value : ticks(map.chart.x_low, map.chart.x_high)) {
        const int x = static_cast<int>(std::lround(map.x(value)));
        canvas.fill(x, box.y, 1, box.height, kGrid);
        canvas.fill(x, box.y + box.height, 1, kTick, kChartInk);
        canvas.text(x, box.y + box.height + kTick + 4, short_number(value), Canvas::Align::centre, kChartInk);
    }
    for (const double value : ticks(map.chart.y_low, map.chart.y_high)) {
        const int y = static_cast<int>(std::lround(map.y(value)));
        canvas.fill(box.x, y, box.width, 1, kGrid);
        canvas.fill(box.x - kTick, y, kTick, 1, kChartInk);
        canvas.text(box.x - kTick - 4, y - kText / 2, short_number(value), Canvas::Align::right, kChartInk);
    }
    canvas.frame(box.x - 1, box.y - 1, box.width + 2, box.height + 2, kChartInk);
    canvas.text(box.x + box.width / 2, box.y + box.height + kTick + kText + 16, map.chart.x_label,
                Canvas::Align::centre, kChartInk);
    canvas.text(box.x - kChartLeft + 16, box.y - 2 * kText - 34, map.chart.title, Canvas::Align::left,
                kChartInk);
    canvas.text(box.x - kChartLeft + 16, box.y - kText - 14, map.chart.y_label, Canvas::Align::left,
                kChartInk);
}

// The places of labels, so that no two overlap.
class Labels {
public:
    explicit Labels(const ChartBox& box) : box_(box) {}

    void take(double x, double y, int half) {
        taken_.push_back({static_cast<int>(x) - half, static_cast<int>(y) - half, 2 * half, 2 * half});
    }
    void take_box(const ChartBox& box) { taken_.push_back(box); }
    // The place for a label of that width beside a point: the first that is free, else the first of all.
    std::array<int, 2> place(double x, double y, int width) {
        std::array<int, 2> first{};
        for (const int distance : {9, 16, 26, 38}) {
            const int left = static_cast<int>(x), top = static_cast<int>(y) - kText / 2;
            const std::array<std::array<int, 2>, 6> places{{{left + distance, top},
                                                            {left - distance - width, top},
                                                            {left - width / 2, top - distance - kText / 2},
                                                            {left - width / 2, top + distance + kText / 2},
                                                            {left + distance, top - distance},
                                                            {left - distance - width, top + distance}}};
            for (const std::array<int, 2>& at : places) {
                const ChartBox wanted{at[0] - 2, at[1] - 2, width + 4, kText + 6};
                if (first == std::array<int, 2>{}) first = at;
                if (!is_free(wanted)) continue;
                taken_.push_back(wanted);
                return at;
            }
        }
        return first;
    }

private:
    bool is_free(const ChartBox& wanted) const {
        if (wanted.x < box_.x || wanted.y < box_.y || wanted.x + wanted.width > box_.x + box_.width ||
            wanted.y + wanted.height > box_.y + box_.height)
            return false;
        return std::none_of(taken_.begin(), taken_.end(), [&](const ChartBox& other) {
            return wanted.x < other.x + other.width && other.x < wanted.x + wanted.width &&
                   wanted.y < other.y + other.height && other.y < wanted.y + wanted.height;
        });
    }

    ChartBox box_;
    std::vector<ChartBox> taken_;
};

bool is_inside(const Chart& chart, const ChartPoint& point) {
    return point.x >= chart.x_low && point.x <= chart.x_high && point.y >= chart.y_low &&
           point.y <= chart.y_high;
}

void dot(Canvas& canvas, double x, double y, double size, Colour colour) {
    canvas.line(x, y, x, y, size, colour);
}

void draw_line(Canvas& canvas, const Mapping& map, const ChartLine& line) {
    for (std::size_t n = 0; n < line.points.size(); ++n) {
        const ChartPoint& to = line.points[n];
        if (!is_inside(map.chart, to)) continue;
        if (n > 0 && is_inside(map.chart, line.points[n - 1])) {
            const ChartPoint& from = line.points[n - 1];
            canvas.line(map.x(from.x), map.y(from.y), map.x(to.x), map.y(to.y), 2, line.colour);
        }
        if (line.marked) dot(canvas, map.x(to.x), map.y(to.y), 6, line.colour);
    }
}

// Draws the legend: labels one below the other in the upper left corner.
void draw_legend(Canvas& canvas, const Mapping& map, Labels& labels) {
    const ChartBox& box = map.box;
    int y = box.y + 12;
    for (const ChartLine& line : map.chart.lines) {
        if (line.points.empty() || line.label.empty()) continue;
        canvas.fill(box.x + 8, y - 4, 36 + Canvas::text_width(line.label), kText + 8, kChartWhite);
        canvas.fill(box.x + 12, y + kText / 2 - 1, 20, 3, line.colour);
        canvas.text(box.x + 40, y, line.label, Canvas::Align::left, line.colour);
        labels.take_box({box.x + 12, y, 28 + Canvas::text_width(line.label), kText});
        y += kText + 8;
    }
}

// Marks a line's pixels as taken, so that no label of a point lies on it.
void take_line(Labels& labels, const Mapping& map, const ChartLine& line) {
    constexpr int kSteps = 200;
    for (std::size_t n = 1; n < line.points.size(); ++n) {
        const ChartPoint &from = line.points[n - 1], &to = line.points[n];
        for (int step = 0; step <= kSteps; ++step) {
            const double part = static_cast<double>(step) / kSteps;
            labels.take(std::lerp(map.x(from.x), map.x(to.x), part),
                        std::lerp(map.y(from.y), map.y(to.y), part), 2);
        }
    }
}

}  // namespace

void draw_chart(Canvas& canvas, const ChartBox& box, const Chart& chart) {
    const Mapping map{box, chart};
    draw_axes(canvas, map);
    Labels labels(box);
    for (const ChartMark& mark : chart.marks)
        labels.take(map.x(mark.at.x), map.y(mark.at.y), 6);
    for (const ChartLine& line : chart.lines)
        draw_line(canvas, map, line);
    draw_legend(canvas, map, labels);
    if (!chart.marks.empty())
        for (const ChartLine& line : chart.lines)
            take_line(labels, map, line);
    for (const ChartMark& mark : chart.marks) {
        if (!is_inside(chart, mark.at)) continue;
        const double x = map.x(mark.at.x), y = map.y(mark.at.y);
        dot(canvas, x, y, 9, mark.colour);
        if (mark.hollow) dot(canvas, x, y, 5, kChartWhite);
        if (mark.label.empty()) continue;
        const std::array<int, 2> at = labels.place(x, y, Canvas::text_width(mark.label));
        canvas.text(at[0], at[1], mark.label, Canvas::Align::left, mark.colour);
    }
}

double round_down(double value) {
    const double power = std::pow(10, std::floor(std::log10(value)));
    for (const double factor : {5.0, 2.0})
        if (value >= factor * power) return factor * power;
    return power;
}

double round_up(double value) {
    const double power = std::pow(10, std::floor(std::log10(value)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (value <= factor * power * (1 + 1e-9)) return factor * power;
    return 10 * power;
}

}  // namespace halo::bench
