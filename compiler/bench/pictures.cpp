#include "compiler/bench/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "compiler/bench/chart.h"

namespace halo::bench {

namespace {

using rt::Canvas;
using rt::Colour;

struct Entry {  // a point of the roofline
    const CaseResult* result = nullptr;
    ChartPoint chosen, naive;  // flops a byte and GFLOP/s; naive.y is 0 where it was not measured
};

// Makes an entry for each stencil and type, on its largest grid: grids of one stencil have one intensity.
std::vector<Entry> entries(const Results& results) {
    std::map<std::string, Entry> largest;
    std::vector<std::string> order;
    for (const CaseResult& result : results.cases) {
        const Measurement* choice = result.choice();
        if (result.which.section == Section::sums || choice == nullptr || choice->seconds <= 0) continue;
        const std::string key = result.which.spec + result.which.type;
        if (const auto found = largest.find(key);
            found != largest.end() && found->second.result->cells() >= result.cells())
            continue;
        Entry entry;
        entry.result = &result;
        const double intensity = result.flops_per_cell / result.bytes_per_cell;
        entry.chosen = {intensity, result.rate(*choice) * result.flops_per_cell / 1e9};
        const Measurement* naive = result.find("naive");
        if (naive != nullptr && naive->seconds > 0)
            entry.naive = {intensity, result.rate(*naive) * result.flops_per_cell / 1e9};
        if (!largest.contains(key)) order.push_back(key);
        largest[key] = entry;
    }
    std::vector<Entry> all;
    for (const std::string& key : order)
        all.push_back(largest[key]);
    return all;
}

Colour colour_of_type(const CaseResult& result) {
    return result.which.type == "f64" ? kChartOrange : kChartBlue;
}

// Fits the axes to all points and the knees of the roofs.
void fit_axes(Chart& chart, const std::vector<Entry>& points, const MachineFacts& machine) {
    double x_low = 0.5, x_high = 10, y_low = std::numeric_limits<double>::max(), y_high = 0;
    for (const Entry& entry : points) {
        x_low = std::min(x_low, entry.chosen.x);
        x_high = std::max(x_high, entry.chosen.x * 1.5);
        for (const double y : {entry.chosen.y, entry.naive.y}) {
            if (y <= 0) continue;
            y_low = std::min(y_low, y / 1.5);
            y_high = std::max(y_high, y * 1.5);
        }
    }
    for (const double roof : {machine.flops_f32, machine.flops_f64}) {
        y_high = std::max(y_high, roof / 1e9 * 1.2);
        if (roof > 0 && machine.copy() > 0) x_high = std::max(x_high, roof / machine.copy() * 1.5);
    }
    chart.x_low = round_down(x_low);
    chart.x_high = round_up(x_high);
    chart.y_low = round_down(std::min(y_low, y_high / 10));
    chart.y_high = round_up(std::max(y_high, y_low * 10));
}

// The roof of the memory, up to where the highest of the other roofs begins.
ChartLine memory_roof(const Chart& chart, const MachineFacts& machine) {
    const double rate = machine.copy() / 1e9;
    const std::string words =
        rate < 1e3 ? fmt::format("{:.0f} GB/s", rate) : fmt::format("{:.2f} TB/s", rate / 1e3);
    const double highest = std::max(machine.flops_f32, machine.flops_f64) / 1e9;
    const double top = highest > 0 ? std::min(highest, chart.y_high) : chart.y_high;
    ChartLine line{"memory: " + words, kChartInk, {}};
    for (const double x : {std::max(chart.x_low, chart.y_low / rate), std::min(chart.x_high, top / rate)})
        line.points.push_back(
            {x, std::clamp(x * rate, chart.y_low, chart.y_high)});  // past by rounding alone
    return line;
}

void add_roofs(Chart& chart, const MachineFacts& machine) {
    if (machine.copy() <= 0) return;
    chart.lines.push_back(memory_roof(chart, machine));
    const auto flat = [&](double flops, const char* type, Colour colour) {
        if (flops <= 0) return;
        const std::string label =
            fmt::format("fused multiply-adds in {}: {:.1f} TFLOP/s", type, flops / 1e12);
        const double knee = std::max(chart.x_low, flops / machine.copy());
        chart.lines.push_back({label, colour, {{knee, flops / 1e9}, {chart.x_high, flops / 1e9}}});
    };
    flat(machine.flops_f32, "f32", kChartBlue);
    flat(machine.flops_f64, "f64", kChartOrange);
}

std::string ascii(std::string text) {
    const auto replace = [&](const std::string& from, const std::string& to) {
        for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from))
            text.replace(at, from.size(), to);
    };
    replace("²", "^2");
    replace("³", "^3");
    replace(" × ", "x");
    return text;
}

void draw_list(Canvas& canvas, const std::vector<Entry>& points, int x, int y) {
    int number = 0;
    const auto line = [&](const std::string& words, Colour colour) {
        canvas.text(x, y, words, Canvas::Align::left, colour);
        y += Canvas::kTextHeight + 8;
    };
    for (const Entry& entry : points) {
        const CaseResult& result = *entry.result;
        line(fmt::format("{:2} {} {} {}", ++number, result.which.title, result.which.type,
                         ascii(result.which.grid())),
             colour_of_type(result));
    }
    const bool compared =
        std::any_of(points.begin(), points.end(), [](const Entry& each) { return each.naive.y > 0; });
    if (compared) line("hollow: one cell a thread", kChartGrey);
}

double largest_time(const std::vector<CompileGrowth>& all) {
    double most = 0;
    for (const CompileGrowth& each : all)
        most = std::max({most, each.to_text(), each.compile});
    return most;
}

Chart compile_chart(const std::vector<CompileGrowth>& all) {
    Chart chart;
    chart.title = "Compiling a program";
    chart.x_label = "statements";
    chart.y_label = "ms";
    chart.x_low = 1;
    double least = largest_time(all), most_statements = 10;
    std::map<std::string, ChartLine> lines;
    const std::map<std::string, std::array<Colour, 2>> colours{
        // to text, to machine code
        {"chain", {kChartBlue, Colour{0x8a, 0xb4, 0xe8}}},
        {"wide", {kChartGreen, Colour{0x8f, 0xcf, 0xa8}}},
        {"lets", {kChartOrange, Colour{0xf0, 0xb2, 0x7a}}}};
    for (const CompileGrowth& each : all) {
        const double x = each.statements;
        most_statements = std::max(most_statements, x);
        least = std::min(least, each.to_text());
        ChartLine& text = lines[each.shape + " to text"];
        text.colour = colours.at(each.shape)[0];
        text.points.push_back({x, each.to_text() * 1e3});
        if (each.compile <= 0) continue;
        ChartLine& code = lines[each.shape + " to machine code"];
        code.colour = colours.at(each.shape)[1];
        code.points.push_back({x, each.compile * 1e3});
    }
    chart.x_high = round_up(most_statements);
    chart.y_low = round_down(least * 1e3 / 1.5);
    chart.y_high = round_up(std::max(largest_time(all) * 1e3 * 30, chart.y_low * 10));
    for (auto& [label, line] : lines) {
        line.label = label;
        line.marked = true;
        chart.lines.push_back(line);
    }
    return chart;
}

Chart grid_chart(const std::vector<GridGrowth>& all) {
    Chart chart;
    chart.title = "A step of the 3D 7-point star, f32";
    chart.x_label = "cells along each axis";
    chart.y_label = "GStencil/s";
    ChartLine line{"", kChartBlue, {}, true};
    double low = std::numeric_limits<double>::max(), high = 0;
    for (const GridGrowth& each : all) {
        line.points.push_back({static_cast<double>(each.side), each.rate / 1e9});
        low = std::min(low, each.rate / 1e9);
        high = std::max(high, each.rate / 1e9);
    }
    chart.x_low = round_down(static_cast<double>(all.front().side));
    chart.x_high = round_up(static_cast<double>(all.back().side) * 1.1);
    chart.y_low = round_down(low / 1.2);
    chart.y_high = round_up(std::max(high * 1.2, chart.y_low * 10));
    chart.lines.push_back(line);
    return chart;
}

}  // namespace

void write_roofline(const std::string& path, const Results& results) {
    const std::vector<Entry> points = entries(results);
    constexpr int kList = 470, kWidth = 900, kHeight = 640, kLine = Canvas::kTextHeight + 8;
    const int height = std::max(kHeight, (static_cast<int>(points.size()) + 3) * kLine);
    const ChartBox box{kChartLeft, kChartTop, kWidth, height};
    Canvas canvas(box.x + box.width + kList, box.y + box.height + kChartBelow, kChartWhite);
    Chart chart;
    chart.title = "Roofline: " + results.machine.name;
    chart.x_label = "operational intensity: flops for each byte that one sweep must move";
    chart.y_label = "GFLOP/s";
    fit_axes(chart, points, results.machine);
    add_roofs(chart, results.machine);
    int number = 0;
    for (const Entry& entry : points) {
        if (entry.naive.y > 0) chart.marks.push_back({entry.naive, "", colour_of_type(*entry.result), true});
        chart.marks.push_back({entry.chosen, std::to_string(++number), colour_of_type(*entry.result), false});
    }
    draw_chart(canvas, box, chart);
    draw_list(canvas, points, box.x + box.width + kChartRight, box.y);
    canvas.write_png(path);
}

void write_growth(const std::string& path, const Results& results) {
    constexpr int kWidth = 620, kHeight = 460;
    const bool has_grids = !results.grids.empty(), has_compiles = !results.compiles.empty();
    const int panels = (has_grids ? 1 : 0) + (has_compiles ? 1 : 0);
    const int panel = kChartLeft + kWidth + kChartRight;
    Canvas canvas(panel * std::max(panels, 1), kChartTop + kHeight + kChartBelow, kChartWhite);
    int x = kChartLeft;
    if (has_grids) {
        draw_chart(canvas, {x, kChartTop, kWidth, kHeight}, grid_chart(results.grids));
        x += panel;
    }
    if (has_compiles) draw_chart(canvas, {x, kChartTop, kWidth, kHeight}, compile_chart(results.compiles));
    canvas.write_png(path);
}

}  // namespace halo::bench
