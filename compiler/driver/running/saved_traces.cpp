#include "compiler/driver/running/saved_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "runtime/hdf5/hdf5.h"
#include "runtime/io/field_file.h"
#include "runtime/ranks/ranks.h"

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

}  // namespace

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
    const std::vector<rt::Hdf5Field> fields{
        numbers_field(request, output.trace->trace, ElementType::f64, done, points, {"step", "point"}, done),
        numbers_field(request, "positions", ElementType::f64, points, request.rank(), {"point", "axis"},
                      done),
        numbers_field(request, "step", ElementType::i64, done, std::nullopt, {"step"}, done),
        numbers_field(request, "time", ElementType::f64, done, std::nullopt, {"step"}, done)};
    const std::vector<const void*> numbers{values.data(), positions.data(), steps.data(), times.data()};
    const std::unique_ptr<rt::Ranks> ranks = rt::single_rank();  // the first has all of it
    rt::FieldFile file(*ranks, path, rt::hdf5_layout(*ranks, fields, provenance));
    for (std::size_t i = 0; i < fields.size(); ++i)
        if (rt::whole_box(fields[i].shape.extent).cells() > 0)
            file.write(i, rt::whole_box(fields[i].shape.extent), numbers[i]);
    file.commit();
}

}  // namespace halo::driver
