#include "sample_scaling.h"

#include <algorithm>
#include <cmath>

namespace halo::test {

using namespace bench;
using rt::ExchangeScheme;

namespace {

constexpr double kRate = 1.2e12;      // cells a second of one device
constexpr double kExchange = 100e-6;  // seconds
constexpr double kLaunch = 6e-6;

ScalingRun run_of(int devices, Extent extent, std::int64_t interval, ExchangeScheme scheme) {
    ScalingRun run;
    run.devices = devices;
    run.extent = extent;
    run.interval = interval;
    run.scheme = scheme;
    const double own = run.cells() / devices / kRate + kLaunch;
    const double left = kExchange / (1 + 3.0 * static_cast<double>(scheme));
    run.seconds = own + (devices > 1 ? left / static_cast<double>(interval) : 0);
    run.spread = 0.004;
    if (devices == 1) return run;
    run.predicted = run.seconds * 0.98;
    run.checked = "the same";
    return run;
}

void add_link(ScalingResults& results) {
    for (int from = 0; from < 4; ++from)
        for (int to = 0; to < 4; ++to) {
            if (from == to) continue;
            DevicePair pair{from, to, true, {}};
            for (std::int64_t bytes = 4 << 10; bytes <= 256 << 20; bytes *= 4)
                pair.copies.push_back(
                    {bytes, 9e-6 + static_cast<double>(bytes) / (400e9 - 1e9 * (from + to))});
            results.link.pairs.push_back(pair);
        }
    results.link.exchanges = {{2, 20e-6, 8e-6}, {4, 35e-6, 15e-6}};
}

void add_lengths(ScalingResults& results) {
    for (const std::int64_t length : {1024, 2048, 3000, 4096, 8192, 16384}) {
        const Extent extent{length, length, 1};
        for (const std::int64_t width : {2, 4, 8, 16}) {
            results.lengths.push_back(run_of(1, extent, width / 2, ExchangeScheme::synchronous));
            results.lengths.back().width = width;
            results.lengths.back().seconds *= 1 + 2.0 / static_cast<double>(width);
        }
        for (const int devices : {2, 4})
            for (const ExchangeScheme scheme : results.schemes)
                for (const std::int64_t width : {2, 4, 8, 16}) {
                    ScalingRun run = run_of(devices, extent, width / 2, scheme);
                    run.width = width;
                    if (length == 3000 && width == 8) run.seconds *= 1.25;  // a kink
                    results.lengths.push_back(run);
                }
    }
}

void add_beyond(ScalingResults& results) {
    for (const bool is_weak : {false, true})
        for (const ExchangeScheme scheme : results.schemes)
            for (int devices = 1; devices <= (scheme == ExchangeScheme::direct ? 4 : 1024); devices *= 2) {
                const Extent extent{1024, 1024, is_weak ? 1024 * devices : 1024};
                const ScalingRun run = run_of(devices, extent, 4, scheme);
                results.beyond.push_back(
                    {devices, is_weak, scheme, 4, run.cells(), run.seconds, {1, 1, devices}});
            }
}

}  // namespace

ScalingResults scaling_results(bool all_schemes) {
    ScalingResults results;
    results.is_gpu = true;
    results.devices = results.node_devices = 4;
    results.machine = "4 x Made-up GPU, sm_90, 100 SMs";
    results.software = "CUDA 13.0, NVRTC 13.0";
    results.commit = "abc1234";
    results.command = "haloc bench --scaling";
    results.schemes = {ExchangeScheme::synchronous};
    if (all_schemes)
        results.schemes.insert(results.schemes.end(), {ExchangeScheme::asynchronous, ExchangeScheme::direct});
    add_link(results);
    for (const std::int64_t side : {1024, 512, 256})
        results.rates.push_back(run_of(1, {side, side, side}, 32, ExchangeScheme::synchronous));
    results.alone.assign(4, results.rates.front());
    for (int device = 1; device < 4; ++device) {
        results.alone[static_cast<std::size_t>(device)].first = device;
        results.alone[static_cast<std::size_t>(device)].seconds *= 1 + 0.01 * device;
    }
    results.strong = results.weak = {results.rates.front()};
    for (const int devices : {2, 4})
        for (const ExchangeScheme scheme : results.schemes) {
            results.strong.push_back(run_of(devices, {1024, 1024, 1024}, 4, scheme));
            results.strong.back().explained = 0.95 * devices;
            results.weak.push_back(run_of(devices, {1024, 1024, 1024 * devices}, 4, scheme));
            results.weak.back().width = 4;
        }
    results.weak.back().seconds = 0;
    results.weak.back().wrong = "after 69 steps of 1024³ cells, u differs from one device's at cell 17";
    add_lengths(results);
    add_beyond(results);
    results.missing = {"Cahn-Hilliard on 4 devices, 16384², halos of 16, direct: the GPU's memory is full"};
    results.budget = 300;
    results.kinds = {{"Cahn-Hilliard on 4 devices", 84, 63}, {"Cahn-Hilliard on 2 devices", 84, 0}};
    return results;
}

}  // namespace halo::test
