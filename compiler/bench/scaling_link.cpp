#include "compiler/bench/scaling_link.h"

#include <algorithm>

#include "compiler/bench/lab.h"
#include "compiler/driver/console/stopwatch.h"

namespace halo::bench {

namespace {

constexpr std::int64_t kLeast = std::int64_t{4} << 10, kMost = std::int64_t{256} << 20;
constexpr std::int64_t kMostOnCpu = std::int64_t{16} << 20;  // past the caches, and soon done
constexpr double kSeconds = 0.004;                           // of one measurement
constexpr int kCopyRepeats = 5, kMostInARow = 200;

rt::BoxCopy copy_of(const rt::DeviceMemory& to, const rt::DeviceMemory& from, std::int64_t bytes) {
    rt::BoxCopy box;
    box.to = to.address();
    box.from = from.address();
    box.row_bytes = bytes;
    return box;
}

// The seconds of one of many repeated calls: each waits for the one before, and only the host waits for the
// last.
template <class Work, class Wait>
double seconds_each(const Work& work, const Wait& wait) {
    work();  // the first one sets up the connection
    wait();
    driver::Stopwatch watch;
    work();
    wait();
    const int count = std::clamp(static_cast<int>(kSeconds / watch.lap()), 1, kMostInARow);
    std::vector<double> times;
    for (int repeat = 0; repeat < kCopyRepeats; ++repeat) {
        watch.lap();
        for (int n = 0; n < count; ++n)
            work();
        wait();
        times.push_back(watch.lap() / count);
    }
    return median(times);
}

using Buffers = std::vector<rt::DeviceMemory>;

DevicePair measure_pair(ScalingLab& lab, const Buffers& buffers, int from, int to, std::int64_t most) {
    DevicePair pair{from, to, lab.is_peer(from, to), {}};
    rt::Device &source = lab.device(from), &target = lab.device(to);
    for (std::int64_t bytes = kLeast; bytes <= most; bytes *= 4) {
        const rt::BoxCopy box =
            copy_of(buffers[static_cast<std::size_t>(to)], buffers[static_cast<std::size_t>(from)], bytes);
        pair.copies.push_back(
            {bytes, seconds_each([&] { target.copy_from(source, box); }, [&] { target.synchronize(); })});
    }
    return pair;
}

// Exchanges as rt::Pieces does, between devices in a row.
ExchangeTime measure_exchange(ScalingLab& lab, const Buffers& buffers, int devices) {
    const auto for_neighbours = [&](const auto& call) {
        for (int one = 0; one + 1 < devices; ++one) {
            call(one, one + 1);
            call(one + 1, one);
        }
    };
    const auto wait_for_each_other = [&] {
        for (int number = 0; number < devices; ++number)
            lab.device(number).record_event();
        for_neighbours([&](int from, int to) { lab.device(to).wait_for_event(lab.device(from)); });
    };
    const auto exchange = [&] {
        wait_for_each_other();
        for_neighbours([&](int from, int to) {
            // Copies into the second half, as others read the first.
            rt::BoxCopy box = copy_of(buffers[static_cast<std::size_t>(to)],
                                      buffers[static_cast<std::size_t>(from)], kLeast);
            box.to = static_cast<char*>(box.to) + kLeast;
            lab.device(to).copy_from(lab.device(from), box);
        });
        wait_for_each_other();
    };
    const auto synchronize = [&] {
        for (int number = 0; number < devices; ++number)
            lab.device(number).synchronize();
    };
    return {devices, seconds_each(exchange, synchronize), seconds_each(wait_for_each_other, synchronize)};
}

}  // namespace

LinkFigures measure_link(ScalingLab& lab) {
    const std::int64_t most = lab.is_gpu() ? kMost : kMostOnCpu;
    Buffers buffers;
    for (int number = 0; number < lab.devices(); ++number) {
        buffers.emplace_back(lab.device(number), most);
        lab.device(number).set_bytes(buffers.back().address(), 0x3c + number, most);
        lab.device(number).synchronize();
    }
    LinkFigures figures;
    for (int from = 0; from < lab.devices(); ++from)
        for (int to = 0; to < lab.devices(); ++to)
            if (from != to) figures.pairs.push_back(measure_pair(lab, buffers, from, to, most));
    for (const int count : lab.counts())
        if (count > 1) figures.exchanges.push_back(measure_exchange(lab, buffers, count));
    return figures;
}

}  // namespace halo::bench
