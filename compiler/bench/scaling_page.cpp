#include "compiler/bench/scaling_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/bench/page_words.h"
#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/progress.h"
#include "compiler/driver/planning/pieces_plan.h"

namespace halo::bench {

namespace {

using rt::ExchangeScheme;

std::string devices_word(const ScalingResults& results) {
    return results.is_gpu ? "GPU" : "piece";
}

std::string scaling_introduction(const ScalingResults& results) {
    std::string text = fmt::format("## On {} {}\n\n{}; {}; commit {}, by `{}`.\n\n", results.devices,
                                   results.is_gpu ? "GPUs" : "pieces of a CPU", results.machine,
                                   results.software, results.commit, results.command);
    if (!results.is_gpu)
        text +=
            "Pieces of one processor share its cores: these figures show that the command works, and no "
            "more.\n\n";
    return text +
           "All figures are of one run, on random data. Each grid was checked in that run before it was "
           "timed: "
           "some steps on all\ndevices, then every cell bit by bit against one device; but of Cahn and "
           "Hilliard's equation on more than 10⁸ cells\nthe narrowest halos and the widest alone. Times are "
           "medians of five runs of many steps. Halos are\nexchanged every few steps, as `haloc run "
           "--devices` does. "
           "`predicted` "
           "is what the model says that chooses the cut\n(the one of `haloc explain --devices`), fed with "
           "the "
           "rate of one device and the figures of the link, all of this page;\n`explain` is what it says "
           "before "
           "anything is measured.\n";
}

std::string cell_of_run(const ScalingRun& run) {
    return run.wrong.empty() ? gstencil(run.rate()) : "**wrong**";
}

std::string ratio(double value, int digits = 2) {
    return value > 0 ? fmt::format("{:.{}f}", value, digits) : "–";
}

// A row of the table of runs. times: of one device's rate, by what it would be with as many cells.
std::vector<std::string> run_row(const ScalingRun& run, const ScalingRun& one, bool is_weak) {
    const bool is_right = run.wrong.empty() && run.seconds > 0;
    const double times = is_right ? run.rate() / one.rate() : 0;
    const double predicted = run.predicted > 0 ? run.cells() / run.predicted : 0;
    std::vector<std::string> cells{std::to_string(run.devices)};
    if (is_weak) {
        Case named;
        named.extent = run.extent;
        cells.push_back(named.grid());
    }
    const bool is_one = run.devices == 1;
    const auto of_many = [&](const std::string& text) { return is_one ? std::string("–") : text; };
    cells.insert(
        cells.end(),
        {of_many(driver::scheme_word(run.scheme)), of_many(std::to_string(run.interval)), cell_of_run(run),
         is_right ? ratio(times) : "–", is_right ? percent(times / run.devices) : "–",
         predicted > 0 ? gstencil(predicted) : "–",
         is_right && predicted > 0 ? fmt::format("{:+.1f} %", 100 * (predicted / run.rate() - 1)) : "–",
         ratio(run.explained), is_right ? percent(run.spread) : "–",
         of_many(run.checked.empty() ? "not checked" : run.checked)});
    return cells;
}

std::string runs_table(const std::vector<ScalingRun>& runs, bool is_weak, const std::string& word) {
    std::vector<std::string> titles{word + "s"};
    if (is_weak) titles.emplace_back("cells");
    titles.insert(titles.end(), {"exchange", "steps an exchange", "GStencil/s", "times one", "of all",
                                 "predicted", "off by", "explain: times one", "spread", "checked on"});
    std::string text = table_head(titles);
    for (const ScalingRun& run : runs)
        text += table_row(run_row(run, runs.front(), is_weak));
    return text;
}

std::string cube_of(const ScalingResults& results) {
    Case named;
    named.extent = results.rates.front().extent;
    return named.grid();
}

// Says how much devices of one kind differ, as pieces that wait for each other go on with the slowest.
std::string alone_words(const ScalingResults& results) {
    if (results.alone.size() < 2) return "";
    std::vector<std::string> rates;
    double all = 0;
    for (const ScalingRun& run : results.alone) {
        rates.push_back(gstencil(run.rate()));
        all += run.rate();
    }
    return fmt::format(
        "\nOne device is number 0. Each of them alone does {} cells at {} GStencil/s, in the order of their "
        "numbers: together {} times the first.\n",
        cube_of(results), driver::join(rates, ", "), ratio(all / results.alone.front().rate()));
}

std::string growing(const ScalingResults& results) {
    std::string text;
    if (results.strong.size() > 1)
        text += fmt::format(
                    "\n### One grid on more devices\n\nStrong scaling: the 3D 7-point star in f32 on "
                    "{} cells, whatever the number of {}s.\n\n",
                    cube_of(results), devices_word(results)) +
                runs_table(results.strong, false, devices_word(results)) + alone_words(results);
    if (results.weak.size() > 1)
        text += fmt::format(
                    "\n### A grid that grows with the devices\n\nWeak scaling: the same stencil on {} "
                    "cells a {}, in a row along z.\n\n",
                    cube_of(results), devices_word(results)) +
                runs_table(results.weak, true, devices_word(results));
    if (!results.rates.empty()) {
        text += "\nOne device on smaller cubes, which is what the model is fed with:\n\n" +
                table_head({"cells", "µs a step", "GStencil/s", "spread"});
        for (const ScalingRun& run : results.rates) {
            Case named;
            named.extent = run.extent;
            text += table_row({named.grid(), fmt::format("{:.1f}", run.seconds * 1e6), gstencil(run.rate()),
                               percent(run.spread)});
        }
    }
    return text;
}

std::string size_word(std::int64_t bytes) {
    return bytes >= (1 << 20) ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} KiB", bytes >> 10);
}

std::string pairs_words(const std::vector<DevicePair>& pairs) {
    const auto by_least = [](const DevicePair& a, const DevicePair& b) {
        return a.least_seconds() < b.least_seconds();
    };
    const auto by_speed = [](const DevicePair& a, const DevicePair& b) {
        return a.bytes_per_second() < b.bytes_per_second();
    };
    const auto [soonest, latest] = std::ranges::minmax_element(pairs, by_least);
    const auto [slowest, fastest] = std::ranges::minmax_element(pairs, by_speed);
    const auto peers = std::ranges::count_if(pairs, &DevicePair::peer);
    return fmt::format(
        "Of all {} pairs the least copy takes {:.1f} to {:.1f} µs, and large ones run at {:.1f} to {:.1f} "
        "GB/s. "
        "{}\n",
        pairs.size(), soonest->least_seconds() * 1e6, latest->least_seconds() * 1e6,
        slowest->bytes_per_second() / 1e9, fastest->bytes_per_second() / 1e9,
        peers == std::ssize(pairs) ? "All reach each other's memory (peer access)."
        : peers == 0               ? "None reaches another's memory: copies go over the host."
                                   : fmt::format("{} reach the other's memory (peer access); copies of the "
                                                               "others go over the host.",
                                                 peers));
}

std::string link(const ScalingResults& results) {
    if (results.link.pairs.empty()) return "";
    const DevicePair& first = results.link.pairs.front();
    std::string text = fmt::format(
        "\n### The link\n\nCopies from {} {} to {}, many in a row, by the calls that exchange halos.\n\n",
        devices_word(results), first.from, first.to);
    text += table_head({"bytes", "µs a copy", "GB/s"});
    for (const CopyTime& copy : first.copies)
        text += table_row({size_word(copy.bytes), fmt::format("{:.1f}", copy.seconds * 1e6),
                           fmt::format("{:.2f}", static_cast<double>(copy.bytes) / copy.seconds / 1e9)});
    text += "\n" + pairs_words(results.link.pairs);
    for (const ExchangeTime& exchange : results.link.exchanges) {
        const driver::Link taken = link_of(results.link, exchange.devices, results.is_gpu);
        text += fmt::format(
            "An exchange of the least copies between {} in a row takes {:.1f} µs, and waiting for each other "
            "alone "
            "{:.1f} µs. The model takes\n{:.1f} µs for waiting around copies, {:.1f} µs a copy and {:.1f} "
            "GB/s.\n",
            exchange.devices, exchange.seconds * 1e6, exchange.barrier * 1e6, taken.wait_seconds * 1e6,
            taken.copy_seconds * 1e6, taken.bytes_per_second / 1e9);
    }
    return text;
}

}  // namespace

std::string scaling_page(const ScalingResults& results, const ScalingPictures& pictures) {
    return scaling_introduction(results) + growing(results) + link(results) +
           scaling_lengths_section(results, pictures) + scaling_beyond_section(results, pictures) +
           scaling_mistakes_section(results);
}

}  // namespace halo::bench
