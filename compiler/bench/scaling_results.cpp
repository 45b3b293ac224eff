#include "compiler/bench/scaling_results.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace halo::bench {

double DevicePair::bytes_per_second() const {
    const CopyTime &least = copies.front(), &most = copies.back();
    const auto bytes = static_cast<double>(most.bytes);
    // A larger copy over the host may take no longer than a small one, where both are small.
    return most.seconds > least.seconds ? bytes / (most.seconds - least.seconds) : bytes / most.seconds;
}

driver::Link link_of(const LinkFigures& figures, int devices, bool is_gpu) {
    driver::Link link = driver::built_in_link(is_gpu);
    if (!figures.pairs.empty()) {
        link.copy_seconds = 0;
        link.bytes_per_second = figures.pairs.front().bytes_per_second();
        for (const DevicePair& pair : figures.pairs) {  // pieces wait for the slowest
            link.copy_seconds = std::max(link.copy_seconds, pair.least_seconds());
            link.bytes_per_second = std::min(link.bytes_per_second, pair.bytes_per_second());
        }
    }
    for (const ExchangeTime& exchange : figures.exchanges) {
        if (exchange.devices > devices) continue;
        link.wait_seconds = std::max(0.0, exchange.seconds - link.copy_seconds);
        link.barrier_seconds = exchange.barrier;
    }
    return link;
}

double ScalingRun::cells() const {
    return static_cast<double>(extent[0]) * static_cast<double>(extent[1]) * static_cast<double>(extent[2]);
}

bool ScalingResults::is_right() const {
    const auto right = [](const std::vector<ScalingRun>& runs) {
        return std::ranges::all_of(runs, [](const ScalingRun& run) { return run.wrong.empty(); });
    };
    return right(rates) && right(strong) && right(weak) && right(lengths);
}

Kinks largest_kinks(const std::vector<ScalingRun>& line) {
    Kinks largest;
    for (std::size_t n = 1; n + 1 < line.size(); ++n) {
        const ScalingRun &before = line[n - 1], &at = line[n], &after = line[n + 1];
        const double part = (at.cells() - before.cells()) / (after.cells() - before.cells());
        const double deviation = at.seconds / std::lerp(before.seconds, after.seconds, part) - 1;
        Kink& known = deviation > 0 ? largest.above : largest.below;
        if (std::abs(deviation) > std::abs(known.deviation)) known = {at.extent[0], deviation};
    }
    return largest;
}

std::vector<ScalingRun> line_of(const std::vector<ScalingRun>& lengths, int devices,
                                rt::ExchangeScheme scheme, std::int64_t width) {
    std::vector<ScalingRun> line;
    for (const ScalingRun& run : lengths)
        if (run.devices == devices && run.width == width && run.scheme == scheme && run.seconds > 0)
            line.push_back(run);
    std::ranges::sort(line, {}, [](const ScalingRun& run) { return run.extent[0]; });
    return line;
}

std::vector<ScalingRun> fastest_on_one(const std::vector<ScalingRun>& lengths) {
    std::vector<ScalingRun> line;
    for (const std::int64_t width : widths_of(lengths))
        for (const ScalingRun& run : line_of(lengths, 1, rt::ExchangeScheme::synchronous, width)) {
            const auto known = std::ranges::find(line, run.extent, &ScalingRun::extent);
            if (known == line.end())
                line.push_back(run);
            else if (run.seconds < known->seconds)
                *known = run;
        }
    std::ranges::sort(line, {}, [](const ScalingRun& run) { return run.extent[0]; });
    return line;
}

std::vector<std::int64_t> widths_of(const std::vector<ScalingRun>& lengths) {
    std::set<std::int64_t> widths;
    for (const ScalingRun& run : lengths)
        if (run.width > 0) widths.insert(run.width);
    return {widths.begin(), widths.end()};
}

std::vector<int> devices_of(const std::vector<ScalingRun>& runs) {
    std::set<int> devices;
    for (const ScalingRun& run : runs)
        devices.insert(run.devices);
    return {devices.begin(), devices.end()};
}

}  // namespace halo::bench
