#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/api/arguments.h"
#include "runtime/api/errors.h"
#include "runtime/api/pieces_simulation.h"
#include "runtime/api/whole_simulation.h"

namespace halocline {

namespace rt = halo::rt;
using detail::SimulationState;
using detail::translated;

namespace detail {

void refuse_name(const std::string& program, const char* kind, const std::string& name,
                 const std::vector<std::string>& known) {
    throw Error(ErrorCode::bad_argument, known.empty()
                                             ? fmt::format("'{}' has no {}, so no '{}'", program, kind, name)
                                             : fmt::format("'{}' has no {} '{}'; it has {}", program, kind,
                                                           name, fmt::join(known, ", ")));
}

SimulationState::SimulationState(const Program& program, std::vector<std::shared_ptr<DeviceState>> on,
                                 Grid cells)
    : source(program.source()),
      devices(std::move(on)),
      grid(std::move(cells)),
      extent(extent_of(program.info(), grid)),
      known_params(program.info().params),
      hidden_inputs(source->hidden_inputs(*this)) {}

void SimulationState::set(const std::string& param, double value) {
    find_named(known_params, param, "parameter", source->info().name);
    if (!std::isfinite(value)) check_finite({&value, 1}, fmt::format("parameter '{}'", param));
    params[param] = value;
    note_given(param);
    set_running(param, value);
}

double SimulationState::get(const std::string& param) const {
    const int index = find_named(known_params, param, "parameter", source->info().name);
    const auto found = params.find(param);
    if (found != params.end()) return found->second;
    const ParamInfo& known = known_params[static_cast<std::size_t>(index)];
    if (known.default_value) return *known.default_value;
    throw Error(ErrorCode::bad_argument,
                fmt::format("parameter '{}' has no default and was not given a value", param));
}

View view_of(const rt::Session& session, const std::string& field, int level,
             const std::array<std::int64_t, rt::kMaxRank>& first) {
    const rt::LaunchPlan& plan = session.plan();
    const rt::FieldPlan& known =
        plan.fields[static_cast<std::size_t>(find_named(plan.fields, field, "field", plan.name))];
    if (known.interleave > 1)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("'{}' lies side by side with other components, and has no array of its own; "
                                "leave out `layout aos`",
                                field));
    if (level > 0 || level < -known.history)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("field '{}' has levels {} to 0; there is no level {:+}", field,
                                -known.history, level));
    const rt::Geometry place = rt::geometry_of_field(known.grid, session.geometry(), plan.halo);
    View view;
    view.memory = session.level_arrays(field)[static_cast<std::size_t>(-level)];
    view.bytes = place.elements * rt::size_of(known.type);
    const auto own = known.grid.offset(first);
    view.first_cell = place.element_of(own);
    view.pitch = place.pitch;
    view.slice = place.slice;
    if (plan.rank > 3) view.volume = place.volume;
    return view;
}

namespace {

// A field's cells along each axis: 1 along those that it has not, and fewer on a coarser grid.
Grid grid_of_field(const SimulationState& simulation, const std::string& field) {
    const ProgramInfo& info = simulation.source->info();
    const int index = find_named(info.fields, field, "field", info.name);
    Grid own = simulation.grid;
    const FieldInfo& known = info.fields[static_cast<std::size_t>(index)];
    for (std::size_t axis = 0; axis < own.size(); ++axis)
        own[axis] = known.over[axis] ? own[axis] / known.coarse : 1;
    return own;
}

std::shared_ptr<SimulationState> simulation_on(const Program& program, const std::vector<Device>& devices,
                                               const Grid& grid, const SimulationOptions& options) {
    if (devices.size() == 1)
        return std::make_shared<WholeSimulation>(program, devices.front().state(), grid, options);
    return std::make_shared<PiecesSimulation>(program, devices, grid, options);
}

// Calls work(state) with its devices locked.
template <class Work>
decltype(auto) in_turn(const std::shared_ptr<SimulationState>& state, Work&& work) {
    return translated([&]() -> decltype(auto) {
        const DeviceLocks locks(state->devices);
        return work(*state);
    });
}

}  // namespace

}  // namespace detail

using detail::in_turn;

Simulation::Simulation(const Program& program, const Device& device, const Grid& grid,
                       const SimulationOptions& options)
    : Simulation(program, std::vector<Device>{device}, grid, options) {}

Simulation::Simulation(const Program& program, const std::vector<Device>& devices, const Grid& grid,
                       const SimulationOptions& options)
    : state_(translated([&] { return detail::simulation_on(program, devices, grid, options); })) {}

const ProgramInfo& Simulation::info() const noexcept {
    return state_->source->info();
}
const Grid& Simulation::grid() const noexcept {
    return state_->grid;
}
Layout Simulation::layout() const {
    return in_turn(state_, [](SimulationState& s) { return s.layout(); });
}
std::int64_t Simulation::steps_done() const {
    return in_turn(state_, [](SimulationState& s) { return s.steps_done(); });
}

void Simulation::set(const std::string& param, double value) {
    in_turn(state_, [&](SimulationState& s) { s.set(param, value); });
}
double Simulation::get(const std::string& param) const {
    return in_turn(state_, [&](SimulationState& s) { return s.get(param); });
}
void Simulation::set_weights(const std::string& coefficient, std::span<const double> weights) {
    in_turn(state_, [&](SimulationState& s) {
        detail::check_finite(weights, fmt::format("the weights of '{}'", coefficient));
        s.set_weights(coefficient, weights);
        s.note_given(coefficient);
        s.given.weights[coefficient].assign(weights.begin(), weights.end());
    });
}
void Simulation::set_table(const std::string& table, std::span<const double> rows) {
    in_turn(state_, [&](SimulationState& s) {
        s.set_table(table, rows);
        s.given.tables[table].assign(rows.begin(), rows.end());
    });
}
void Simulation::set_series(const std::string& series, std::span<const double> values) {
    const std::vector<TableInfo>& known = info().tables;
    const auto found = std::ranges::find(known, series, &TableInfo::name);
    if (found != known.end() && !found->is_series)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("'{}' of '{}' is a table: set_table() gives its rows", series, info().name));
    set_table(series, values);
}
void Simulation::set_points(const std::string& points, std::span<const double> positions) {
    in_turn(state_, [&](SimulationState& s) {
        detail::check_finite(positions, fmt::format("the positions of '{}'", points));
        s.set_points(points, positions);
        s.given.points[points].assign(positions.begin(), positions.end());
    });
}
void Simulation::set_point_values(const std::string& points, const std::string& name,
                                  std::span<const double> values) {
    in_turn(state_, [&](SimulationState& s) {
        s.set_point_values(points, name, values);
        s.given.point_values[{points, name}].assign(values.begin(), values.end());
    });
}
std::vector<double> Simulation::trace(const std::string& points, const std::string& name) {
    return in_turn(state_, [&](SimulationState& s) { return s.trace(points, name); });
}

void Simulation::bind(const std::string& field, const Field& arrays) {
    in_turn(state_, [&](SimulationState& s) {
        s.bind(field, arrays.state());
        s.note_shared(field);
    });
}
Field Simulation::field(const std::string& name) {
    return in_turn(state_, [&](SimulationState& s) {
        s.note_shared(name);
        return Field(s.share(name));
    });
}
std::vector<Piece> Simulation::pieces() const {
    return translated([&] { return state_->pieces(); });
}
View Simulation::view(const std::string& field, int piece, int level) {
    return in_turn(state_, [&](SimulationState& s) {
        const auto count = static_cast<int>(s.devices.size());
        s.note_shared(field);
        if (piece >= 0 && piece < count) return s.view(field, piece, level);
        throw Error(ErrorCode::bad_argument,
                    fmt::format("there are {} pieces, 0 to {}, and no piece {}", count, count - 1, piece));
    });
}

void Simulation::write(const std::string& field, std::span<const float> values, int level) {
    in_turn(state_, [&](SimulationState& s) {
        s.note_given(field);
        s.write(field, level, values);
    });
}
void Simulation::write(const std::string& field, std::span<const double> values, int level) {
    in_turn(state_, [&](SimulationState& s) {
        s.note_given(field);
        s.write(field, level, values);
    });
}
void Simulation::read(const std::string& field, std::span<float> values, int level) {
    in_turn(state_, [&](SimulationState& s) { s.read(field, level, values); });
}
void Simulation::read(const std::string& field, std::span<double> values, int level) {
    in_turn(state_, [&](SimulationState& s) { s.read(field, level, values); });
}
std::vector<double> Simulation::read(const std::string& field, int level) {
    return in_turn(state_, [&](SimulationState& s) {
        std::int64_t cells = 1;
        for (const std::int64_t count : detail::grid_of_field(s, field))
            cells *= count;
        std::vector<double> values(static_cast<std::size_t>(cells));
        s.read(field, level, std::span<double>(values));
        return values;
    });
}
void Simulation::write_elements(const std::string& field, const void* elements, std::int64_t bytes,
                                int level) {
    in_turn(state_, [&](SimulationState& s) {
        s.note_given(field);
        s.write_elements(field, level, elements, bytes);
    });
}
void Simulation::read_elements(const std::string& field, void* elements, std::int64_t bytes, int level) {
    in_turn(state_, [&](SimulationState& s) { s.read_elements(field, level, elements, bytes); });
}

void Simulation::read_box(const std::string& field, const Piece& box, void* elements, std::int64_t bytes,
                          int level) {
    in_turn(state_, [&](SimulationState& s) {
        const ProgramInfo& info = s.source->info();
        const int index = detail::find_named(info.fields, field, "field", info.name);
        std::int64_t needed = size_of(info.fields[static_cast<std::size_t>(index)].type);
        const Grid own = detail::grid_of_field(s, field);
        rt::Box cells{{0, 0, 0}, {1, 1, 1}};
        for (std::size_t axis = 0; axis < s.grid.size(); ++axis) {
            if (box.begin.size() != s.grid.size() || box.end.size() != s.grid.size() || box.begin[axis] < 0 ||
                box.end[axis] <= box.begin[axis] || box.end[axis] > own[axis])
                throw Error(
                    ErrorCode::bad_argument,
                    fmt::format("a box of cells lies in the grid, from 0 to {}, and this one is from {} "
                                "to {}",
                                fmt::join(own, " x "), fmt::join(box.begin, " x "),
                                fmt::join(box.end, " x ")));
            cells.begin[axis] = box.begin[axis];
            cells.end[axis] = box.end[axis];
            needed *= box.end[axis] - box.begin[axis];
        }
        if (bytes != needed || elements == nullptr)
            throw Error(ErrorCode::bad_argument,
                        fmt::format("the box's cells of '{}' are {} bytes, and there is room for {}", field,
                                    needed, elements == nullptr ? 0 : bytes));
        s.read_box(field, level, cells, elements);
    });
}

void Simulation::write_view(const std::string& field, const View& cells, int level) {
    in_turn(state_, [&](SimulationState& s) {
        s.note_given(field);
        s.write_view(field, level, cells);
    });
}
void Simulation::read_view(const std::string& field, const View& cells, int level) {
    in_turn(state_, [&](SimulationState& s) { s.read_view(field, level, cells); });
}

Simulation::Stepped Simulation::step_until(const Condition& condition, std::int64_t at_most,
                                           std::int64_t every) {
    return in_turn(state_, [&](SimulationState& s) {
        if (condition.state()->program != s.source)
            throw Error(ErrorCode::bad_argument, fmt::format("the condition is of another program, '{}'",
                                                             condition.state()->program->info().name));
        if (every < 1)
            throw Error(ErrorCode::bad_argument,
                        fmt::format("a condition is looked at after every 1 step or more, not {}", every));
        detail::check_steps(at_most, s.steps_done());
        if (at_most > 0) s.fill_hidden_inputs();
        return s.step_until(*condition.state(), at_most, every);
    });
}

void Simulation::step(std::int64_t count) {
    in_turn(state_, [&](SimulationState& s) {
        if (count > 0) s.fill_hidden_inputs();
        s.step(count);
    });
}
void Simulation::wait() {
    in_turn(state_, [](SimulationState& s) {
        for (const auto& device : s.devices)
            device->device->synchronize();
    });
}
double Simulation::reduce(const std::string& reduction) {
    return in_turn(state_, [&](SimulationState& s) { return s.reduce(reduction); });
}
std::vector<Iterations> Simulation::iterations() {
    std::vector<Iterations> all;
    for (const rt::RepeatCounts& each : in_turn(state_, [](SimulationState& s) { return s.repeat_counts(); }))
        all.push_back({each.condition, each.at_most, each.total, each.most, each.unfinished});
    return all;
}

}  // namespace halocline
