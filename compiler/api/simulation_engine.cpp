#include "compiler/api/simulation_engine.h"

#include <algorithm>
#include <stdexcept>

#include "runtime/api/arguments.h"

namespace halocline::detail {

void SimulationEngine::set_coef(const std::string& name, const std::vector<double>& values) {
    simulation_.set_weights(name, values);
    simulation_.given.weights[name] = values;
}
void SimulationEngine::set_table(const std::string& name, const std::vector<double>& rows) {
    simulation_.set_table(name, rows);
    simulation_.given.tables[name] = rows;
}
void SimulationEngine::set_points(const std::string& points, const std::vector<double>& positions) {
    simulation_.set_points(points, positions);
    simulation_.given.points[points] = positions;
}
void SimulationEngine::set_point_values(const std::string& points, const std::string& name,
                                        const std::vector<double>& values) {
    simulation_.set_point_values(points, name, values);
    simulation_.given.point_values[{points, name}] = values;
}

halo::rt::ElementType SimulationEngine::type_of(const std::string& field) const {
    const ProgramInfo& info = simulation_.source->info();
    const int index = find_named(info.fields, field, "field", info.name);
    return checked_type(info.fields[static_cast<std::size_t>(index)].type);
}

halo::rt::FieldGrid SimulationEngine::grid_of(const std::string& field) const {
    const ProgramInfo& info = simulation_.source->info();
    const int index = find_named(info.fields, field, "field", info.name);
    halo::rt::FieldGrid grid;
    std::ranges::copy(info.fields[static_cast<std::size_t>(index)].over, grid.along.begin());
    return grid;
}

bool SimulationEngine::holds(const halo::rt::HostScalar& /*until*/) {
    throw std::logic_error("a simulation looks at its conditions itself");
}
halo::rt::RunResult SimulationEngine::run(std::int64_t /*steps*/,
                                          const std::optional<halo::rt::HostScalar>& /*until*/) {
    throw std::logic_error("a simulation does its steps itself");
}

}  // namespace halocline::detail
