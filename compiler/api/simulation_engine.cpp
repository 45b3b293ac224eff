#include "compiler/api/simulation_engine.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/lower/shared/storage.h"
#include "runtime/api/arguments.h"

namespace halocline::detail {

void SimulationEngine::set_coef(const std::string& name, const std::vector<double>& values) {
    simulation_.set_weights(name, values);
    simulation_.note_given(name);
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

const halo::ir::Field& SimulationEngine::find(const std::string& field) const {
    const auto found = std::ranges::find(program_.fields, field, &halo::ir::Field::name);
    if (found == program_.fields.end() || found->role == halo::ir::Role::intermediate)
        refuse_name(program_.name, "field", field, names_of(simulation_.source->info().fields));
    return *found;
}
halo::rt::ElementType SimulationEngine::type_of(const std::string& field) const {
    return halo::lower::element_type(find(field).storage);
}
halo::rt::FieldGrid SimulationEngine::grid_of(const std::string& field) const {
    return find(field).grid;
}

bool SimulationEngine::holds(const halo::rt::HostScalar& /*until*/) {
    throw std::logic_error("a simulation looks at its conditions itself");
}
halo::rt::RunResult SimulationEngine::run(std::int64_t /*steps*/,
                                          const std::optional<halo::rt::HostScalar>& /*until*/) {
    throw std::logic_error("a simulation does its steps itself");
}

}  // namespace halocline::detail
