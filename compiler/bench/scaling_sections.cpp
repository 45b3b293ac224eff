// The parts of the page on lengths and on what is beyond the devices that are there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/bench/page_words.h"
#include "compiler/bench/scaling_page.h"
#include "compiler/driver/console/arguments.h"
#include "compiler/driver/planning/pieces_plan.h"

namespace halo::bench {

namespace {

using rt::ExchangeScheme;

const ScalingRun* find(const std::vector<ScalingRun>& runs, int devices, ExchangeScheme scheme,
                       std::int64_t width, std::int64_t length) {
    const auto found = std::ranges::find_if(runs, [&](const ScalingRun& run) {
        return run.devices == devices && run.scheme == scheme && run.width == width &&
               run.extent[0] == length;
    });
    return found == runs.end() ? nullptr : &*found;
}

std::string microseconds(double seconds) {
    return fmt::format("{:.{}f}", seconds * 1e6, seconds < 100e-6 ? 2 : seconds < 1e-3 ? 1 : 0);
}

std::string time_cell(const ScalingRun* run) {
    if (run == nullptr) return "–";
    if (!run->wrong.empty()) return "**wrong**";
    const std::string time = microseconds(run->seconds);
    return run->predicted > 0 ? fmt::format("{} ({})", time, microseconds(run->predicted)) : time;
}

std::vector<std::int64_t> lengths_of(const std::vector<ScalingRun>& runs, int devices) {
    std::vector<std::int64_t> lengths;
    for (const ScalingRun& run : runs)
        if (run.devices == devices) lengths.push_back(run.extent[0]);
    std::ranges::sort(lengths);
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    return lengths;
}

std::string lengths_table(const ScalingResults& results, int devices, ExchangeScheme scheme) {
    const std::vector<std::int64_t> widths = widths_of(results.lengths);
    std::vector<std::string> titles{"length", "one device"};
    for (const std::int64_t width : widths)
        titles.push_back(fmt::format("halos of {}", width));
    std::string text = table_head(titles);
    const std::vector<ScalingRun> one = fastest_on_one(results.lengths);
    for (const std::int64_t length : lengths_of(results.lengths, devices)) {
        const auto of_one =
            std::ranges::find_if(one, [&](const ScalingRun& run) { return run.extent[0] == length; });
        std::vector<std::string> cells{std::to_string(length),
                                       time_cell(of_one == one.end() ? nullptr : &*of_one)};
        for (const std::int64_t width : widths)
            cells.push_back(time_cell(find(results.lengths, devices, scheme, width, length)));
        text += table_row(cells);
    }
    return text;
}

// The largest kinks of every line that has a length between two others.
std::string kinks(const ScalingResults& results, int devices, ExchangeScheme scheme) {
    std::vector<std::string> words;
    const auto add = [&](const std::string& what, const std::vector<ScalingRun>& line) {
        if (line.size() < 3) return;
        const auto [above, below] = largest_kinks(line);
        std::vector<std::string> shown;
        for (const Kink& kink : {above, below})
            if (std::abs(kink.deviation) >= 0.0005)  // a digit of what is printed
                shown.push_back(fmt::format("{:+.1f} % at {}", 100 * kink.deviation, kink.length));
        words.push_back(what + " " + (shown.empty() ? "none" : driver::join(shown, " and ")));
    };
    add("one device", fastest_on_one(results.lengths));
    for (const std::int64_t width : widths_of(results.lengths))
        add(fmt::format("halos of {}", width), line_of(results.lengths, devices, scheme, width));
    if (words.empty()) return "";
    return "\nKinks, as the largest deviations to either side of a length's time from the straight line, "
           "over the "
           "number of\ncells, between the lengths next to it: " +
           driver::join(words, "; ") + ".\n";
}

// Says whether the machine was disturbed.
std::string largest_spread(const ScalingResults& results, int devices, ExchangeScheme scheme) {
    const ScalingRun* largest = nullptr;
    for (const ScalingRun& run : results.lengths)
        if (run.devices == devices && run.scheme == scheme && run.seconds > 0 &&
            (largest == nullptr || run.spread > largest->spread))
            largest = &run;
    if (largest == nullptr) return "";
    return fmt::format("\nThe runs of one figure differ by up to {}: length {}, halos of {}.\n",
                       percent(largest->spread), largest->extent[0], largest->width);
}

// A table of a scheme's times over those of the synchronous one.
std::string ratios_table(const ScalingResults& results, int devices, ExchangeScheme scheme) {
    const std::vector<std::int64_t> widths = widths_of(results.lengths);
    std::vector<std::string> titles{"length"};
    for (const std::int64_t width : widths)
        titles.push_back(fmt::format("halos of {}", width));
    std::string text = table_head(titles);
    for (const std::int64_t length : lengths_of(results.lengths, devices)) {
        std::vector<std::string> cells{std::to_string(length)};
        for (const std::int64_t width : widths) {
            const ScalingRun* run = find(results.lengths, devices, scheme, width, length);
            const ScalingRun* first =
                find(results.lengths, devices, ExchangeScheme::synchronous, width, length);
            const bool both = run != nullptr && first != nullptr && run->seconds > 0 && first->seconds > 0;
            cells.push_back(both ? fmt::format("{:.3f}", run->seconds / first->seconds) : "–");
        }
        text += table_row(cells);
    }
    return text;
}

const ModelPoint* find(const std::vector<ModelPoint>& points, bool is_weak, ExchangeScheme scheme,
                       int devices) {
    const auto found = std::ranges::find_if(points, [&](const ModelPoint& point) {
        return point.is_weak == is_weak && point.scheme == scheme && point.devices == devices;
    });
    return found == points.end() ? nullptr : &*found;
}

std::string assumptions(const ScalingResults& results) {
    const driver::Link within = link_of(results.link, results.devices, results.is_gpu);
    std::string text = fmt::format(
        "\nWhat it assumes:\n\n"
        "- a node has {} devices, numbered in a row, joined by the link of this page ({:.1f} µs for waiting, "
        "{:.1f} µs a copy, {:.1f} GB/s);\n"
        "- between nodes a device is given {:g} GB/s, and a copy takes {:g} µs longer, whatever the others "
        "do: "
        "figures that nothing here\n  has measured (`--network-bandwidth`, `--network-latency`);\n",
        results.node_devices, within.wait_seconds * 1e6, within.copy_seconds * 1e6,
        within.bytes_per_second / 1e9, results.between_nodes.bytes_per_second / 1e9,
        results.between_nodes.longer_seconds * 1e6);
    text +=
        "- a piece computes its cells and ghosts at the rate of one device on as many cells, between the "
        "cubes "
        "above along the line through them;\n"
        "- a piece makes its copies one after the other, axis after axis, and the slowest piece is what all "
        "wait "
        "for;\n"
        "- the cut and the steps between exchanges are those that the model finds fastest; all but "
        "synchronous "
        "exchange wants a cut along\n  z alone, and direct exchange one node;\n";
    if (std::ranges::find(results.schemes, ExchangeScheme::asynchronous) != results.schemes.end())
        text += fmt::format(
            "- a host takes {:.0f} µs for each piece that its process exchanges asynchronously;\n",
            within.host_seconds * 1e6);
    return text + "- no device waits for a host otherwise, or is slower than others.\n";
}

}  // namespace

std::string scaling_lengths_section(const ScalingResults& results, const ScalingPictures& pictures) {
    if (results.lengths.empty()) return "";
    std::string text =
        "\n### Lengths and halos\n\nCahn and Hilliard's equation by Euler's method, f32, on n × n cells of a "
        "periodic grid: two stages a step, which together\nread two cells far, so halos of 2, 4, 8 and 16 "
        "are "
        "exchanged every 1, 2, 4 and 8 steps.";
    if (results.is_gpu)
        text +=
            " A kernel does all steps to the next\nexchange at once, the same kernel for all lengths. One "
            "device does them by the fastest of these kernels.";
    text += " Microseconds a\nstep, and what is predicted in brackets.\n";
    if (!pictures.lengths.empty())
        text += fmt::format("\n![Time of a step against the length, by width of the halos]({})\n",
                            pictures.lengths);
    for (const int devices : devices_of(results.lengths)) {
        if (devices == 1) continue;
        for (const ExchangeScheme scheme : results.schemes) {
            text += fmt::format("\n#### {} devices, {} exchange\n\n", devices, driver::scheme_word(scheme));
            text += lengths_table(results, devices, scheme) + kinks(results, devices, scheme) +
                    largest_spread(results, devices, scheme);
        }
        for (const ExchangeScheme scheme : results.schemes)
            if (scheme != ExchangeScheme::synchronous)
                text += fmt::format("\n#### {} devices, {} time over synchronous\n\n", devices,
                                    driver::scheme_word(scheme)) +
                        ratios_table(results, devices, scheme);
    }
    return text;
}

std::string scaling_beyond_section(const ScalingResults& results, const ScalingPictures& pictures) {
    if (results.beyond.empty()) return "";
    std::string text =
        "\n### Beyond these devices\n\nThis is the model alone, of the 3D 7-point star in f32; "
        "beyond the figures above nothing has been measured.\n";
    if (!pictures.beyond.empty())
        text += fmt::format("\n![Measured, and predicted up to 1024 devices]({})\n", pictures.beyond);
    for (const ExchangeScheme scheme : results.schemes) {
        text += fmt::format("\nBy {} exchange:\n\n", driver::scheme_word(scheme));
        text += table_head({"devices", "growing grid: GStencil/s", "of all", "steps an exchange",
                            "one grid: GStencil/s", "of all", "cut", "steps an exchange"});
        for (const ModelPoint& weak : results.beyond) {
            if (!weak.is_weak || weak.scheme != scheme) continue;
            const double one = find(results.beyond, true, scheme, 1)->rate() * weak.devices;
            const ModelPoint* strong = find(results.beyond, false, scheme, weak.devices);
            std::vector<std::string> cells{std::to_string(weak.devices), gstencil(weak.rate()),
                                           percent(weak.rate() / one), std::to_string(weak.interval)};
            if (strong == nullptr)
                cells.insert(cells.end(), {"–", "–", "–", "–"});
            else
                cells.insert(cells.end(), {gstencil(strong->rate()), percent(strong->rate() / one),
                                           fmt::format("{} × {} × {}", strong->counts[0], strong->counts[1],
                                                       strong->counts[2]),
                                           std::to_string(strong->interval)});
            text += table_row(cells);
        }
    }
    return text + assumptions(results);
}

std::string scaling_mistakes_section(const ScalingResults& results) {
    std::string text;
    for (const auto* runs : {&results.strong, &results.weak, &results.lengths})
        for (const ScalingRun& run : *runs)
            if (!run.wrong.empty())
                text += fmt::format("- {} devices, {}, halos of {}: {}\n", run.devices,
                                    driver::scheme_word(run.scheme), run.width, run.wrong);
    for (const std::string& missing : results.missing)
        text += "- " + missing + "\n";
    for (const MeasuredKind& kind : results.kinds)
        if (kind.left_out > 0)
            text += fmt::format("- {}: {} of {} measurements left out, the {:g} s of `--budget` were spent\n",
                                kind.name, kind.left_out, kind.wanted, results.budget);
    return text.empty() ? "" : "\n### What is wrong or missing\n\n" + text;
}

}  // namespace halo::bench
