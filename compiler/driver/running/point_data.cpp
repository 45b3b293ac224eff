#include "compiler/driver/running/point_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/running/initial_data.h"
#include "runtime/io/npy.h"

namespace halo::driver {

namespace {

const Load* find_load(const RunRequest& request, const std::string& name) {
    const auto found = std::find_if(request.point_loads.begin(), request.point_loads.end(),
                                    [&](const Load& load) { return load.field == name; });
    return found == request.point_loads.end() ? nullptr : &*found;
}

[[noreturn]] void refuse_shape(const Load& load, const rt::NpyArray& array, const std::string& wanted) {
    throw rt::Error(rt::ErrorCode::bad_argument,
                    fmt::format("{} holds an array of shape ({}); {} takes {}", load.path,
                                fmt::join(array.shape, ", "), load.field, wanted));
}

std::vector<double> places(const ir::Points& points, int rank, const sema::RunSpec* run,
                           const RunRequest& request) {
    if (const Load* load = find_load(request, points.name)) {
        rt::NpyArray array = rt::read_npy(load->path);
        if (array.shape.size() != 2 || array.shape[1] != rank)
            refuse_shape(*load, array, fmt::format("a row of {} coordinates for each point", rank));
        return std::move(array.values);
    }
    if (run != nullptr) {
        for (const sema::PointPlaces& each : run->places)
            if (each.points == points.name) return each.positions;
    }
    return {};
}

std::vector<double> loaded_numbers(const Load& load, std::int64_t count, bool is_trace) {
    rt::NpyArray array = rt::read_npy(load.path);
    const std::size_t axes = array.shape.size();
    const bool is_line = axes == 1 && (is_trace ? count == 1 : array.shape[0] == count);
    const bool fits = is_line || (is_trace && axes == 2 && array.shape[1] == count);
    if (!fits)
        refuse_shape(load, array,
                     is_trace ? fmt::format("a row of {} numbers for each step", count)
                              : fmt::format("{} numbers, one for each point", count));
    return std::move(array.values);
}

// Runs the program of `init` on a grid of the points and, for a trace, the steps.
std::vector<double> computed_numbers(const sema::PointFill& fill, std::int64_t count,
                                     const RunRequest& request, Machine& machine) {
    const std::int64_t rows = fill.is_trace ? request.steps : 1;
    if (count == 0 || rows == 0) return {};
    LoadTimings timings;
    CodeOptions options;
    options.strict_fp = request.strict_fp;
    std::unique_ptr<Engine> maker = machine.load_initializer(fill.init, {count, rows, 1}, options, timings);
    set_known_arguments(*maker, fill.init, request);
    maker->run(1, std::nullopt);
    const FieldValues values = maker->download(fill.name);
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < values.size(); ++i)
        numbers.push_back(values.at(i));
    return numbers;
}

}  // namespace

std::vector<PointData> read_points(const ir::Program& program, const sema::RunSpec* run,
                                   const RunRequest& request, Machine& machine) {
    std::vector<PointData> all;
    for (const ir::Points& points : program.points) {
        PointData data{points.name, places(points, program.rank(), run, request), {}};
        const std::int64_t count = static_cast<std::int64_t>(data.positions.size()) / program.rank();
        const auto read = [&](const std::string& name, bool is_trace) {
            if (const Load* load = find_load(request, points.name + "." + name)) {
                data.numbers.push_back({name, is_trace, loaded_numbers(*load, count, is_trace)});
                return;
            }
            if (run == nullptr) return;
            for (const sema::PointFill& each : run->point_fills) {
                if (each.points == points.name && each.name == name)
                    data.numbers.push_back({name, is_trace, computed_numbers(each, count, request, machine)});
            }
        };
        for (const std::string& column : points.columns)
            read(column, false);
        for (const ir::Points::Trace& trace : points.traces)
            if (!trace.sampled) read(trace.name, true);
        all.push_back(std::move(data));
    }
    return all;
}

PointPlaces places_of(const std::vector<PointData>& points) {
    PointPlaces places;
    for (const PointData& each : points)
        places[each.points] = each.positions;
    return places;
}

PointPlaces fill_points(Engine& engine, const ir::Program& program, const sema::RunSpec* run,
                        const RunRequest& request, Machine& machine) {
    const std::vector<PointData> all = read_points(program, run, request, machine);
    for (const PointData& data : all) {
        engine.set_points(data.points, data.positions);
        for (const PointData::Numbers& each : data.numbers)
            engine.set_point_values(data.points, each.name, each.values);
    }
    return places_of(all);
}

}  // namespace halo::driver
