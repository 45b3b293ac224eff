#include "runtime/api/axis_inputs.h"

#include <utility>

#include "runtime/core/element.h"

namespace halocline::detail {

namespace rt = halo::rt;

AxisInputs::AxisInputs(SimulationState& simulation, const rt::LaunchPlan& plan)
    : simulation_(simulation), plan_(plan), points_(plan.stretched.size()) {
    const auto add_params = [&](const rt::HostScalar& scalar) {
        for (const rt::HostScalar::Step& step : scalar.steps)
            if (step.op == rt::HostScalar::Op::param)
                follows_from_.insert(plan.params[static_cast<std::size_t>(step.index)].name);
    };
    for (const rt::StretchedAxisPlan& axis : plan.stretched) {
        add_params(axis.distance);
        add_params(plan.origin[static_cast<std::size_t>(axis.axis)]);
        if (axis.field >= 0) follows_from_.insert(plan.fields[static_cast<std::size_t>(axis.field)].name);
    }
}

void AxisInputs::fill() {
    if (!is_due_ && !is_shared_) return;
    for (std::size_t i = 0; i < points_.size(); ++i) {
        const rt::StretchedAxisPlan& axis = plan_.stretched[i];
        rt::AxisPoints points = points_of(axis);
        if (points == points_[i]) continue;
        points_[i].reset();
        fill(axis, points);
        points_[i] = std::move(points);
    }
    is_due_ = false;
}

rt::AxisPoints AxisInputs::points_of(const rt::StretchedAxisPlan& axis) const {
    std::vector<double> params;
    for (const rt::ParamPlan& param : plan_.params)
        params.push_back(simulation_.get(param.name));
    const auto along = static_cast<std::size_t>(axis.axis);
    std::vector<double> distances(static_cast<std::size_t>(simulation_.extent[along]));
    if (axis.field >= 0)
        simulation_.read(plan_.fields[static_cast<std::size_t>(axis.field)].name, 0,
                         std::span<double>(distances));
    for (std::size_t cell = 0; cell < distances.size() && axis.field < 0; ++cell)
        distances[cell] = rt::evaluate(axis.distance, params, simulation_.extent, static_cast<double>(cell));
    rt::check_distances(distances, axis.is_periodic, plan_.axes[along]);
    const double origin = rt::evaluate(plan_.origin[along], params, simulation_.extent);
    return {std::move(distances), axis.is_periodic, origin};
}

void AxisInputs::fill(const rt::StretchedAxisPlan& axis, const rt::AxisPoints& points) {
    for (const auto& [index, holds] : axis.tables) {
        const rt::FieldPlan& field = plan_.fields[static_cast<std::size_t>(index)];
        const std::vector<double> values = points.values(holds);
        std::vector<char> elements(values.size() * static_cast<std::size_t>(rt::size_of(field.type)));
        rt::encode(values.data(), static_cast<std::int64_t>(values.size()), field.type, elements.data());
        simulation_.write_box(field.name, 0, rt::box_of_field(field.grid, rt::whole_box(simulation_.extent)),
                              elements.data());
    }
}

}  // namespace halocline::detail
