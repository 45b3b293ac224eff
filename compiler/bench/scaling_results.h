// What `haloc bench --scaling` found: plain data, made by scaling_measure.h, written by scaling_page.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/bench/cases.h"
#include "compiler/driver/planning/pieces_model.h"

namespace halo::bench {

// Copies from one device to another.
struct CopyTime {
    std::int64_t bytes = 0;
    double seconds = 0;
};

struct DevicePair {
    int from = 0, to = 0;
    bool peer = false;  // one reaches the other's memory; else the driver takes copies over the host
    std::vector<CopyTime> copies;  // in rising order of bytes
    double least_seconds() const { return copies.front().seconds; }
    double bytes_per_second() const;  // that the largest copy adds to the least
};

// Devices in a row: seconds of an exchange of the least copies with its barriers, and of one barrier alone.
struct ExchangeTime {
    int devices = 0;
    double seconds = 0;
    double barrier = 0;
};

struct LinkFigures {
    std::vector<DevicePair> pairs;
    std::vector<ExchangeTime> exchanges;
};
// As the model takes them, of so many devices; what is built in where nothing was measured.
driver::Link link_of(const LinkFigures& figures, int devices, bool is_gpu);

// One program on one grid and so many devices.
struct ScalingRun {
    int devices = 1;
    int first = 0;  // number of the first of them
    Extent extent{};
    rt::ExchangeScheme scheme = rt::ExchangeScheme::synchronous;
    std::int64_t interval = 1;  // steps from one exchange to the next
    std::int64_t width = 0;     // of a halo that is exchanged, in cells
    double seconds = 0;         // a step, the median of the repeated runs; 0: not measured
    double spread = 0;          // of the runs: (longest - shortest) / median
    double predicted = 0;       // seconds a step, by the model with what was measured; 0: nothing is
    double explained = 0;       // times one device, as `haloc explain --devices` says; 0: it does not
    std::string pieces;         // "2 pieces, 2 along z, …"
    std::string checked;        // the grid that it was checked on; empty: it was not
    std::string wrong;          // how its results differ from those of one device; empty: they do not

    double cells() const;
    double rate() const { return seconds > 0 ? cells() / seconds : 0; }
};

// What the model says of more devices than there are.
struct ModelPoint {
    int devices = 1;
    bool is_weak = false;
    rt::ExchangeScheme scheme = rt::ExchangeScheme::synchronous;
    std::int64_t interval = 1;
    double cells = 0;
    double seconds = 0;    // a step
    rt::Lengths counts{};  // pieces along each axis
    double rate() const { return cells / seconds; }
};

// Measurements of one kind, such as "Cahn-Hilliard on 4 devices", with what the budget allowed.
struct MeasuredKind {
    std::string name;
    int wanted = 0;
    int left_out = 0;  // of them, as the budget was spent
};

struct ScalingResults {
    bool is_gpu = false;
    std::string machine;  // "4 x NVIDIA H200, sm_90, 132 SMs"
    std::string software;
    std::string commit;
    int devices = 0;
    std::string command;  // that made it, with its options
    std::vector<rt::ExchangeScheme> schemes;
    LinkFigures link;
    std::vector<ScalingRun> rates;   // of one device, on cubes, the largest first
    std::vector<ScalingRun> alone;   // of each device, on the largest of them
    std::vector<ScalingRun> strong;  // by devices; those of one are among them
    std::vector<ScalingRun> weak;
    std::vector<ScalingRun> lengths;  // those of one device by the kernels of each width
    std::vector<ModelPoint> beyond;
    int node_devices = 0;
    driver::BetweenNodes between_nodes;
    double budget = 0;                 // seconds for all that is measured
    std::vector<MeasuredKind> kinds;   // in the order of measuring
    std::vector<std::string> missing;  // what else was left out, and why

    bool is_right() const;
};

// Of runs of one line: how far the time of a length lies off the straight line of time over cells through the
// lengths next to it: a deviation is a cost that neither the steps nor the cells explain.
struct Kink {
    std::int64_t length = 0;
    double deviation = 0;  // 0.1: a tenth longer than the line
};
struct Kinks {
    Kink above, below;  // the largest of each sign; none: of no length
};
Kinks largest_kinks(const std::vector<ScalingRun>& line);  // in rising order of lengths

// Those of lengths with so many devices, scheme and width, measured and right, in rising order of length.
std::vector<ScalingRun> line_of(const std::vector<ScalingRun>& lengths, int devices,
                                rt::ExchangeScheme scheme, std::int64_t width);
// Of all lengths, what one device does fastest.
std::vector<ScalingRun> fastest_on_one(const std::vector<ScalingRun>& lengths);
// In rising order, each once.
std::vector<std::int64_t> widths_of(const std::vector<ScalingRun>& lengths);
std::vector<int> devices_of(const std::vector<ScalingRun>& runs);

}  // namespace halo::bench
