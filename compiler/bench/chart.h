// Charts with logarithmic axes on a canvas: lines, numbered points, and a list of what the numbers mean.
#pragma once

#include <string>
#include <vector>

#include "runtime/io/canvas.h"

namespace halo::bench {

struct ChartPoint {
    double x = 0, y = 0;  // > 0
};

struct ChartLine {
    std::string label;  // in the upper left corner; ASCII, as all words of a chart
    rt::Colour colour;
    std::vector<ChartPoint> points;
    bool marked = false;  // a dot at each point
};

struct ChartMark {
    ChartPoint at;
    std::string label;  // beside it: a number
    rt::Colour colour;
    bool hollow = false;
};

struct Chart {
    std::string title, x_label, y_label;
    double x_low = 1, x_high = 10, y_low = 1, y_high = 10;  // > 0, low < high
    std::vector<ChartLine> lines;
    std::vector<ChartMark> marks;
};

struct ChartBox {  // of the canvas, in pixels; labels of the axes lie outside of it
    int x = 0, y = 0, width = 0, height = 0;
};

// Room that labels take around a box.
inline constexpr int kChartLeft = 110, kChartTop = 76, kChartBelow = 64, kChartRight = 24;

void draw_chart(rt::Canvas& canvas, const ChartBox& box, const Chart& chart);

// The least and largest 1, 2 or 5 times a power of ten that the values lie between.
double round_down(double value);
double round_up(double value);

extern const rt::Colour kChartInk, kChartBlue, kChartOrange, kChartGreen, kChartGrey, kChartWhite;

}  // namespace halo::bench
