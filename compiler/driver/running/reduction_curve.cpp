#include "compiler/driver/running/reduction_curve.h"

#include <fmt/format.h>

#include "compiler/driver/console/arguments.h"

namespace halo::driver {

ReductionCurve::ReductionCurve(const Output& output) : output_(output), due_(output.frames) {
    if (due_.every == 0) due_.every = due_.from = 1;
    fields_.push_back(output.field.name);
    for (const Output& layer : output.layers)
        fields_.push_back(layer.field.name);
    columns_.resize(fields_.size());
}

void ReductionCurve::take(Engine& engine, std::int64_t done, bool last) {
    // Before the first step there is none; the last one may have been taken before it was known to be it.
    const bool is_there = !steps_.empty() && steps_.back() == done;
    if (done == 0 || is_there || !(last || due_.is_due(done))) return;
    std::vector<double> values;
    for (const std::string& field : fields_)
        values.push_back(engine.reduction(field));
    add(done, values);
}

void ReductionCurve::add(std::int64_t done, const std::vector<double>& values) {
    steps_.push_back(done);
    for (std::size_t i = 0; i < values.size(); ++i)
        columns_[i].push_back(values[i]);
    if (output_.frames.every == 0 && steps_.size() >= kMost && due_.is_due(done)) thin_out();
}

// Those after every second of the steps stay, which are due at twice the distance.
void ReductionCurve::thin_out() {
    due_.every *= 2;
    due_.from = due_.every;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        if (!due_.is_due(steps_[i])) continue;
        steps_[kept] = steps_[i];
        for (std::vector<double>& column : columns_)
            column[kept] = column[i];
        ++kept;
    }
    steps_.resize(kept);
    for (std::vector<double>& column : columns_)
        column.resize(kept);
}

std::string ReductionCurve::names() const {
    return join(fields_, ", ");
}

rt::Curve ReductionCurve::picture(const RunRequest& request) const {
    rt::Curve curve;
    curve.title = fmt::format("{}: {}, {} steps", request.name, names(), steps_.back());
    curve.range = output_.range;
    curve.logarithmic = output_.logarithmic;
    std::vector<std::string> labels{with_unit(output_.field.name, output_.unit)};
    for (const Output& layer : output_.layers)
        labels.push_back(with_unit(layer.field.name, layer.unit));
    curve.value_label = labels.size() == 1 ? labels.front() : "";
    std::vector<double> times;
    for (const std::int64_t step : steps_)
        times.push_back(request.time_after(step));
    curve.across = {request.time_step ? with_unit("time", request.time_unit) : "step", times.front(),
                    times.back()};
    for (std::size_t i = 0; i < fields_.size(); ++i)
        curve.lines.push_back({labels[i], columns_[i], times.front(), times.back(), times});
    return curve;
}

}  // namespace halo::driver
