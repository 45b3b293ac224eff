#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "runtime/api/errors.h"
#include "runtime/api/simulation_state.h"
#include "runtime/core/plan_check.h"

namespace halocline {

namespace rt = halo::rt;
using detail::SimulationState;
using detail::translated;
using detail::Turn;

namespace detail {

rt::Session& SimulationState::up_to_date() {
    rt::Session& running = start();
    for (auto& [name, binding] : bindings) {
        if (binding.seen == binding.field->version) continue;
        running.bind_levels(name, arrays_of(binding));
        binding.seen = binding.field->version;
    }
    return running;
}

void SimulationState::hand_on() {
    for (auto& [name, binding] : bindings) {
        const rt::FieldPlan& known = plan.fields[static_cast<std::size_t>(binding.index)];
        if (known.role == rt::Role::input) continue;
        FieldState& field = *binding.field;
        const std::vector<void*> arrays = session->level_arrays(name);
        const std::int64_t origin = session->geometry().origin * rt::size_of(field.type);
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            const std::size_t past = static_cast<std::size_t>(known.history);
            const std::size_t place = i <= past ? i : i - past + static_cast<std::size_t>(field.past);
            field.cells[place] = static_cast<char*>(arrays[i]) + origin;
        }
        binding.seen = ++field.version;
    }
}

void SimulationState::mark_written(const std::string& name) {
    const auto bound = bindings.find(name);
    if (bound != bindings.end()) bound->second.seen = ++bound->second.field->version;
}

namespace {

// Nothing where params that it depends on have no values yet.
std::optional<double> fixed_value(const rt::Session& session, const rt::FieldPlan& field, std::size_t axis,
                                  std::size_t side) {
    const rt::FacePlan& face = field.boundary[axis][side];
    if (face.kind != rt::BoundaryKind::fixed || field.halo[axis][side] == 0) return std::nullopt;
    try {
        return session.evaluate(face.value);
    } catch (const rt::Error&) {
        return std::nullopt;
    }
}

}  // namespace

// What is fixed may depend on params, so it is looked at before steps.
void SimulationState::check_faces() const {
    for (const auto& [name, binding] : bindings) {
        const rt::FieldPlan& mine = plan.fields[static_cast<std::size_t>(binding.index)];
        for (const FieldState::User& user : binding.field->users) {
            const auto other = user.simulation.lock();
            if (other == nullptr || other.get() == this || !other->session) continue;
            const rt::FieldPlan& theirs = other->plan.fields[static_cast<std::size_t>(user.field)];
            for (std::size_t axis = 0; axis < static_cast<std::size_t>(plan.rank); ++axis)
                for (std::size_t side = 0; side < 2; ++side) {
                    const std::optional<double> here = fixed_value(*session, mine, axis, side);
                    const std::optional<double> there = fixed_value(*other->session, theirs, axis, side);
                    if (!here || !there || *here == *there) continue;
                    throw Error(
                        ErrorCode::bad_argument,
                        fmt::format(
                            "'{}' of '{}' and '{}' of '{}' share their arrays, and fix different values "
                            "past the {} face of {}: {} and {}",
                            mine.name, plan.name, theirs.name, other->plan.name, side == 0 ? "low" : "high",
                            plan.axes[axis], *here, *there));
                }
        }
    }
}

}  // namespace detail

Simulation::Simulation(const Program& program, const Device& device, const Grid& grid,
                       const SimulationOptions& options) {
    translated([&] {
        auto state = std::make_shared<SimulationState>();
        state->source = program.source();
        state->grid = grid;
        state->extent = detail::extent_of(program.info(), grid);
        state->code = program.source()->code_for(*device.state(), state->extent);
        state->plan = state->code->plan;
        if (options.layout) {
            if (options.layout->grid != grid)
                throw Error(ErrorCode::bad_argument, fmt::format("the layout is of another grid, {}",
                                                                 detail::grid_text(options.layout->grid)));
            state->geometry = detail::geometry_of(*options.layout);
        }
        state->device = device.state();
        state_ = std::move(state);
    });
}

namespace {

// Calls work(state) in the device's turn.
template <class Work>
decltype(auto) in_turn(const std::shared_ptr<SimulationState>& state, Work&& work) {
    return translated([&]() -> decltype(auto) {
        const Turn turn(*state->device);
        return work(*state);
    });
}

}  // namespace

const ProgramInfo& Simulation::info() const noexcept {
    return state_->source->info();
}
const Grid& Simulation::grid() const noexcept {
    return state_->grid;
}
Layout Simulation::layout() const {
    return in_turn(state_, [](SimulationState& s) {
        return detail::layout_of(s.session ? s.session->geometry() : s.chosen_geometry(),
                                 s.device->device->row_layout());
    });
}
std::int64_t Simulation::steps_done() const {
    return in_turn(state_, [](SimulationState& s) { return s.session ? s.session->steps_done() : 0; });
}

void Simulation::set(const std::string& param, double value) {
    in_turn(state_, [&](SimulationState& s) {
        s.find_param(param);
        s.params[param] = value;
        if (s.session) s.session->set_param(param, value);
    });
}

double Simulation::get(const std::string& param) const {
    return in_turn(state_, [&](SimulationState& s) {
        const auto& known = s.plan.params[static_cast<std::size_t>(s.find_param(param))];
        const auto found = s.params.find(param);
        if (found != s.params.end()) return found->second;
        if (known.default_value) return *known.default_value;
        throw Error(ErrorCode::bad_argument,
                    fmt::format("parameter '{}' has no default and was not given a value", param));
    });
}

void Simulation::set_weights(const std::string& coefficient, std::span<const double> weights) {
    in_turn(state_, [&](SimulationState& s) { s.start().set_coef(coefficient, weights); });
}
void Simulation::set_table(const std::string& table, std::span<const double> rows) {
    in_turn(state_, [&](SimulationState& s) { s.start().set_table(table, rows); });
}
void Simulation::set_points(const std::string& points, std::span<const double> positions) {
    in_turn(state_, [&](SimulationState& s) { s.start().set_points(points, positions); });
}
void Simulation::set_point_values(const std::string& points, const std::string& name,
                                  std::span<const double> values) {
    in_turn(state_, [&](SimulationState& s) { s.start().set_point_values(points, name, values); });
}
std::vector<double> Simulation::trace(const std::string& points, const std::string& name) {
    return in_turn(state_, [&](SimulationState& s) { return s.start().trace(points, name); });
}

void Simulation::bind(const std::string& field, const Field& arrays) {
    in_turn(state_, [&](SimulationState& s) { s.bind(field, arrays.state()); });
}
Field Simulation::field(const std::string& name) {
    return in_turn(state_, [&](SimulationState& s) { return Field(s.share(name)); });
}

void Simulation::write(const std::string& field, std::span<const float> values, int level) {
    in_turn(state_, [&](SimulationState& s) {
        s.up_to_date().upload(field, level, values);
        s.mark_written(field);
    });
}
void Simulation::write(const std::string& field, std::span<const double> values, int level) {
    in_turn(state_, [&](SimulationState& s) {
        s.up_to_date().upload(field, level, values);
        s.mark_written(field);
    });
}
void Simulation::read(const std::string& field, std::span<float> values, int level) {
    in_turn(state_, [&](SimulationState& s) { s.up_to_date().download(field, level, values); });
}
void Simulation::read(const std::string& field, std::span<double> values, int level) {
    in_turn(state_, [&](SimulationState& s) { s.up_to_date().download(field, level, values); });
}
std::vector<double> Simulation::read(const std::string& field, int level) {
    return in_turn(state_, [&](SimulationState& s) { return s.up_to_date().download(field, level); });
}
void Simulation::write_elements(const std::string& field, const void* elements, std::int64_t bytes,
                                int level) {
    in_turn(state_, [&](SimulationState& s) {
        s.up_to_date().upload_elements(field, level, elements, bytes);
        s.mark_written(field);
    });
}
void Simulation::read_elements(const std::string& field, void* elements, std::int64_t bytes, int level) {
    in_turn(state_,
            [&](SimulationState& s) { s.up_to_date().download_elements(field, level, elements, bytes); });
}

void Simulation::step(std::int64_t count) {
    in_turn(state_, [&](SimulationState& s) {
        rt::Session& session = s.up_to_date();
        s.check_faces();
        try {
            session.step(count);
        } catch (...) {
            s.hand_on();  // some steps may have been done
            throw;
        }
        s.hand_on();
    });
}

void Simulation::wait() {
    in_turn(state_, [](SimulationState& s) { s.device->device->synchronize(); });
}

double Simulation::reduce(const std::string& reduction) {
    return in_turn(state_, [&](SimulationState& s) { return s.start().reduction(reduction); });
}

}  // namespace halocline
