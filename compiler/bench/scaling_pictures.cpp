#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compiler/bench/chart.h"
#include "compiler/bench/scaling_page.h"
#include "compiler/driver/planning/pieces_plan.h"

namespace halo::bench {

namespace {

using rt::Canvas;
using rt::Colour;
using rt::ExchangeScheme;

constexpr int kWidth = 620, kHeight = 460;
constexpr int kPanelWidth = kChartLeft + kWidth + kChartRight,
              kPanelHeight = kChartTop + kHeight + kChartBelow;
constexpr std::array<Colour, 6> kWidthColours{{{0x1f, 0x5f, 0xb4},
                                               {0x1b, 0x8a, 0x5a},
                                               {0xd9, 0x5f, 0x02},
                                               {0x8e, 0x3a, 0x8e},
                                               {0xb0, 0x20, 0x30},
                                               {0x22, 0x22, 0x22}}};

// Divides the picture into rows of panels, each with room for its labels.
class Panels {
public:
    Panels(int columns, int rows) : canvas_(columns * kPanelWidth, rows * kPanelHeight, kChartWhite) {}
    void add(const Chart& chart) {
        draw_chart(canvas_,
                   {column_++ * kPanelWidth + kChartLeft, row_ * kPanelHeight + kChartTop, kWidth, kHeight},
                   chart);
    }
    void end_row() {
        column_ = 0;
        ++row_;
    }
    void write(const std::string& path) const { canvas_.write_png(path); }

private:
    Canvas canvas_;
    int column_ = 0, row_ = 0;
};

// The least and the largest y of all lines; x lies between round numbers.
struct Range {
    double low = std::numeric_limits<double>::max(), high = 0;
    void take(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

Range fit_x(Chart& chart) {
    Range x, y;
    for (const ChartLine& line : chart.lines)
        for (const ChartPoint& point : line.points) {
            x.take(point.x);
            y.take(point.y);
        }
    if (x.high == 0) {  // nothing was measured: an empty chart
        chart.x_high = 10;
        return {1, 10};
    }
    chart.x_low = round_down(x.low);
    chart.x_high = std::max(round_up(x.high), 2 * chart.x_low);
    return y;
}

// Fits the y axis, with room above the lines for the labels.
void fit_y(Chart& chart, const Range& y) {
    chart.y_low = y.low / 1.1;
    chart.y_high = y.high * 1.1;
    chart.y_high *= std::max(std::pow(chart.y_high / chart.y_low, 0.4), 1.2);
}

ChartLine line_by_length(const std::vector<ScalingRun>& runs, const std::string& label, Colour colour) {
    ChartLine line{label, colour, {}, true};
    for (const ScalingRun& run : runs)
        line.points.push_back({static_cast<double>(run.extent[0]), run.seconds * 1e6});
    return line;
}

// The ratios of two lines: each length's time over that of another line, where both have it.
ChartLine line_of_ratios(const std::vector<ScalingRun>& over, const std::vector<ScalingRun>& under,
                         const std::string& label, Colour colour) {
    ChartLine line{label, colour, {}, true};
    for (const ScalingRun& run : over)
        for (const ScalingRun& other : under)
            if (run.extent == other.extent)
                line.points.push_back({static_cast<double>(run.extent[0]), run.seconds / other.seconds});
    return line;
}

Chart times_chart(const ScalingResults& results, int devices, ExchangeScheme scheme) {
    Chart chart;
    chart.title =
        fmt::format("Cahn-Hilliard 2D, Euler, f32: {} devices, {}", devices, driver::scheme_word(scheme));
    chart.x_label = "cells along each axis";
    chart.y_label = "microseconds a step";
    std::size_t number = 0;
    for (const std::int64_t width : widths_of(results.lengths))
        chart.lines.push_back(line_by_length(line_of(results.lengths, devices, scheme, width),
                                             fmt::format("halos of {}", width),
                                             kWidthColours[number++ % kWidthColours.size()]));
    fit_x(chart);
    // Drops shorter lengths, which were measured for the model.
    std::vector<ScalingRun> one = fastest_on_one(results.lengths);
    std::erase_if(one,
                  [&](const ScalingRun& run) { return static_cast<double>(run.extent[0]) < chart.x_low; });
    chart.lines.push_back(line_by_length(one, "one device", kChartGrey));
    fit_y(chart, fit_x(chart));
    return chart;
}

// A chart of ratios: of a scheme, its time over the synchronous one's; of that one, how many times as fast as
// one device.
Chart ratios_chart(const ScalingResults& results, int devices, ExchangeScheme scheme) {
    const bool is_first = scheme == ExchangeScheme::synchronous;
    Chart chart;
    chart.title =
        is_first ? fmt::format("{} devices, synchronous: times as fast as one", devices)
                 : fmt::format("{} devices: {} time over synchronous", devices, driver::scheme_word(scheme));
    chart.x_label = "cells along each axis";
    chart.y_label = is_first ? "speed-up" : "ratio: less is faster";
    std::size_t number = 0;
    for (const std::int64_t width : widths_of(results.lengths)) {
        const auto first = line_of(results.lengths, devices, ExchangeScheme::synchronous, width);
        const auto other =
            is_first ? fastest_on_one(results.lengths) : line_of(results.lengths, devices, scheme, width);
        chart.lines.push_back(line_of_ratios(other, first, fmt::format("halos of {}", width),
                                             kWidthColours[number++ % kWidthColours.size()]));
    }
    Range y = fit_x(chart);
    const double even = is_first ? devices : 1;
    chart.lines.push_back(
        {is_first ? "as many times" : "", kChartGrey, {{chart.x_low, even}, {chart.x_high, even}}});
    y.take(even);
    fit_y(chart, y);
    return chart;
}

Colour colour_of_scheme(ExchangeScheme scheme) {
    return kWidthColours[2 - static_cast<std::size_t>(scheme)];
}

// What was measured lies on what is predicted where the model is right. Of a growing grid by device: all
// lines would be one, else.
Chart beyond_chart(const ScalingResults& results, bool is_weak) {
    Chart chart;
    chart.title = is_weak ? "A grid that grows with the devices" : "One grid on more devices";
    chart.x_label = "devices";
    chart.y_label = is_weak ? "GStencil/s a device: predicted; dots are measured"
                            : "GStencil/s: predicted; dots are measured";
    const auto point_of = [&](const auto& of) {
        const double devices = of.devices;
        return ChartPoint{devices, of.rate() / 1e9 / (is_weak ? devices : 1)};
    };
    ChartLine ideal{is_weak ? "one device" : "as many times one device", kChartGrey, {}};
    double most = 1;
    for (const ExchangeScheme scheme : results.schemes) {
        ChartLine model{driver::scheme_word(scheme), colour_of_scheme(scheme), {}};
        for (const ModelPoint& point : results.beyond)
            if (point.is_weak == is_weak && point.scheme == scheme) model.points.push_back(point_of(point));
        for (const ScalingRun& run : is_weak ? results.weak : results.strong)
            if (run.seconds > 0 && run.devices > 1 && run.scheme == scheme)
                chart.marks.push_back({point_of(run), "", colour_of_scheme(scheme)});
        if (!model.points.empty()) {
            ideal.points = {model.points.front()};
            most = std::max(most, model.points.back().x);
        }
        chart.lines.push_back(model);
    }
    if (!ideal.points.empty()) {
        const double one = ideal.points.front().y;
        ideal.points.push_back({most, is_weak ? one : one * most});
    }
    chart.lines.insert(chart.lines.begin(), ideal);
    Range y = fit_x(chart);
    for (const ChartMark& mark : chart.marks)
        y.take(mark.at.y);
    fit_y(chart, y);
    return chart;
}

}  // namespace

void write_lengths(const std::string& path, const ScalingResults& results) {
    std::vector<int> counts = devices_of(results.lengths);
    std::erase(counts, 1);
    Panels panels(static_cast<int>(results.schemes.size()), 2 * static_cast<int>(counts.size()));
    for (const int devices : counts) {
        for (const ExchangeScheme scheme : results.schemes)
            panels.add(times_chart(results, devices, scheme));
        panels.end_row();
        for (const ExchangeScheme scheme : results.schemes)
            panels.add(ratios_chart(results, devices, scheme));
        panels.end_row();
    }
    panels.write(path);
}

void write_beyond(const std::string& path, const ScalingResults& results) {
    Panels panels(2, 1);
    for (const bool is_weak : {true, false})
        panels.add(beyond_chart(results, is_weak));
    panels.write(path);
}

}  // namespace halo::bench
