#include "compiler/driver/running/saved_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "compiler/driver/console/exit_code.h"
#include "runtime/hdf5/hdf5.h"
#include "runtime/io/field_file.h"
#include "runtime/ranks/ranks.h"
#include "runtime/segy/segy.h"

namespace halo::driver {

namespace {

rt::Hdf5Field numbers_field(const RunRequest& request, const std::string& name, rt::ElementType type,
                            std::int64_t rows, std::optional<std::int64_t> columns,
                            const std::vector<std::string>& axes, std::int64_t done) {
    rt::Hdf5Field field;
    field.name = name;
    field.shape.extent = {columns.value_or(rows), columns ? rows : 1, 1};
    field.shape.rank = columns ? 2 : 1;
    field.type = type;
    field.stencil = request.name;
    field.step = done;
    field.time = request.time_after(done);
    field.axes = axes;
    return field;
}

// What SEG-Y calls an axis: 0 and 1 are X and Y, 2 the depth.
std::optional<std::size_t> segy_axis(const std::string& name) {
    const std::string all = "xyz";
    const std::size_t found = name.size() == 1 ? all.find(name) : std::string::npos;
    return found == std::string::npos ? std::nullopt : std::optional(found);
}

rt::SegyPlace segy_place(const RunRequest& request, const double* position) {
    rt::SegyPlace place{};
    for (std::size_t axis = 0; axis < request.axes.size(); ++axis)
        if (const std::optional<std::size_t> to = segy_axis(request.axes[axis])) place[*to] = position[axis];
    return place;
}

double microseconds_of(const RunRequest& request) {
    return request.time_step.value_or(0) * 1e6;
}

}  // namespace

void check_segy(const RunRequest& request, const Output& output) {
    const std::string what = fmt::format("{} cannot be saved to {}: ", output.field.name, output.path);
    for (const std::string& axis : request.axes)
        if (!segy_axis(axis))
            refuse_usage(fmt::format("{}SEG-Y has coordinates along x, y and z, and {} has an axis {}", what,
                                     request.name, axis),
                         "name an .npy or .h5 file");
    if (!request.time_step)
        refuse_usage(what + "SEG-Y has the time between two samples, and the stencil has no param dt",
                     "name an .npy or .h5 file");
    if (!request.time_unit.empty() && request.time_unit != "s")
        refuse_usage(
            fmt::format("{}SEG-Y counts microseconds, and dt is in \"{}\", where seconds, \"s\", are "
                        "needed",
                        what, request.time_unit),
            "nothing is converted between units");
    const double interval = microseconds_of(request);
    if (!(interval >= 0.5) || interval > static_cast<double>(rt::kMostSegyMicroseconds) ||
        std::fabs(std::round(interval) - interval) > 1e-6 * interval)
        refuse_usage(
            fmt::format("{}SEG-Y has a whole number of microseconds from 1 to {} between two samples, "
                        "and dt is {:.6g} of them",
                        what, rt::kMostSegyMicroseconds, interval),
            "choose another dt, or name an .npy or .h5 file");
    if (request.steps > rt::kMostSegySamples)
        refuse_usage(fmt::format("{}a trace of SEG-Y has {} samples at most, and the run {} steps", what,
                                 rt::kMostSegySamples, request.steps),
                     "name an .npy or .h5 file");
}

void write_segy_file(const std::string& path, const RunRequest& request, const Output& output,
                     const std::vector<double>& values, const std::vector<double>& positions,
                     const std::vector<double>& source, std::int64_t done) {
    rt::SegyTraces traces;
    traces.samples = done;
    traces.microseconds = std::llround(microseconds_of(request));
    const auto rank = static_cast<std::size_t>(request.rank());
    for (std::size_t at = 0; at < positions.size(); at += rank)
        traces.receivers.push_back(segy_place(request, &positions[at]));
    if (!source.empty()) traces.source = segy_place(request, source.data());
    traces.values = values;
    traces.words = {fmt::format("{} of {}, written by Halocline", output.field.name, request.name),
                    fmt::format("{} traces of {} samples, {} microseconds apart", traces.receivers.size(),
                                done, traces.microseconds),
                    "Samples are IEEE floats of 4 bytes (format 5).",
                    "Coordinates are to be divided by the scalars of bytes 69 and 71.",
                    "The receiver's elevation (byte 41) is its z with the opposite sign."};
    rt::write_segy(path, traces);
}

void write_trace_file(const std::string& path, const RunRequest& request, const Output& output,
                      const std::vector<double>& values, const std::vector<double>& positions,
                      std::int64_t done, const std::string& provenance) {
    const std::int64_t points = std::ssize(positions) / request.rank();
    std::vector<std::int64_t> steps;
    std::vector<double> times;
    for (std::int64_t step = 0; step < done; ++step) {
        steps.push_back(step);
        times.push_back(request.time_after(step));
    }
    using rt::ElementType;
    std::vector<rt::Hdf5Field> fields{
        numbers_field(request, output.trace->trace, ElementType::f64, done, points, {"step", "point"}, done),
        numbers_field(request, "positions", ElementType::f64, points, request.rank(), {"point", "axis"},
                      done),
        numbers_field(request, "step", ElementType::i64, done, std::nullopt, {"step"}, done),
        numbers_field(request, "time", ElementType::f64, done, std::nullopt, {"step"}, done)};
    fields[0].unit = output.unit;
    // One for all axes, or none is said.
    const std::string& unit = request.axis_units.front();
    if (std::ranges::count(request.axis_units.begin(), request.axis_units.begin() + request.rank(), unit) ==
        request.rank())
        fields[1].unit = unit;
    fields[3].unit = request.time_unit;
    const std::vector<const void*> numbers{values.data(), positions.data(), steps.data(), times.data()};
    const std::unique_ptr<rt::Ranks> ranks = rt::single_rank();  // the first has all of it
    rt::FieldFile file(*ranks, path, rt::hdf5_layout(*ranks, fields, provenance));
    for (std::size_t i = 0; i < fields.size(); ++i)
        if (rt::whole_box(fields[i].shape.extent).cells() > 0)
            file.write(i, rt::whole_box(fields[i].shape.extent), numbers[i]);
    file.commit();
}

}  // namespace halo::driver
