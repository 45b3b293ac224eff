// What a simulation on one device does, with what others did to the fields that it shares.
#include "runtime/api/whole_simulation.h"

#include <fmt/format.h>

#include "runtime/api/arguments.h"
#include "runtime/core/plan_check.h"

namespace halocline::detail {

namespace rt = halo::rt;

WholeSimulation::WholeSimulation(const Program& program, const std::shared_ptr<DeviceState>& on,
                                 const Grid& cells, const SimulationOptions& options)
    : SimulationState(program, {on}, cells),
      device(on),
      code(source->code_for(*device, extent)),
      plan(code->plan) {
    known_params = info_of(plan).params;
    if (!options.layout) return;
    if (options.layout->grid != grid)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("the layout is of another grid, {}", grid_text(options.layout->grid)));
    const Layout& layout = *options.layout;
    check_place(grid, {layout.pitch, layout.slice, layout.volume, layout.first_cell, layout.elements});
    geometry = geometry_of(layout);
}

rt::Session& WholeSimulation::up_to_date() {
    rt::Session& running = start();
    for (auto& [name, binding] : bindings) {
        if (binding.seen == binding.field->version) continue;
        running.bind_levels(name, arrays_of(binding));
        binding.seen = binding.field->version;
    }
    return running;
}

// Allocates nothing, so that it cannot fail: the steps are done.
void WholeSimulation::publish_levels() noexcept {
    for (auto& [name, binding] : bindings) {
        const rt::FieldPlan& known = plan.fields[static_cast<std::size_t>(binding.index)];
        if (known.role == rt::Role::input) continue;
        FieldState& field = *binding.field;
        const std::int64_t origin = session->geometry().origin * rt::size_of(field.type);
        for (int i = 0; i < rt::level_count(known); ++i) {
            const int place = i <= known.history ? i : i - known.history + field.past;
            field.cells[static_cast<std::size_t>(place)] =
                static_cast<char*>(session->level_array(binding.index, i)) + origin;
        }
        binding.seen = ++field.version;
    }
}

void WholeSimulation::mark_written(const std::string& name) {
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

// What is fixed may depend on params, so it is checked before steps.
void WholeSimulation::check_faces() const {
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

Layout WholeSimulation::layout() const {
    return layout_of(session ? session->geometry() : chosen_geometry(), device->device->row_layout());
}

std::vector<Piece> WholeSimulation::pieces() const {
    return {{Grid(grid.size(), 0), grid}};
}
View WholeSimulation::view(const std::string& field, int /*piece*/, int level) {
    return view_of(up_to_date(), field, level, {});
}

void WholeSimulation::set_running(const std::string& param, double value) {
    if (session) session->set_param(param, value);
}
void WholeSimulation::set_weights(const std::string& coefficient, std::span<const double> weights) {
    start().set_coef(coefficient, weights);
}
void WholeSimulation::set_table(const std::string& table, std::span<const double> rows) {
    start().set_table(table, rows);
}
void WholeSimulation::set_points(const std::string& points, std::span<const double> positions) {
    start().set_points(points, positions);
}
void WholeSimulation::set_point_values(const std::string& points, const std::string& name,
                                       std::span<const double> values) {
    start().set_point_values(points, name, values);
}
std::vector<double> WholeSimulation::trace(const std::string& points, const std::string& name) {
    return start().trace(points, name);
}

void WholeSimulation::write(const std::string& field, int level, std::span<const float> values) {
    up_to_date().upload(field, level, values);
    mark_written(field);
}
void WholeSimulation::write(const std::string& field, int level, std::span<const double> values) {
    up_to_date().upload(field, level, values);
    mark_written(field);
}
void WholeSimulation::read(const std::string& field, int level, std::span<float> values) {
    up_to_date().download(field, level, values);
}
void WholeSimulation::read(const std::string& field, int level, std::span<double> values) {
    up_to_date().download(field, level, values);
}
void WholeSimulation::write_elements(const std::string& field, int level, const void* elements,
                                     std::int64_t bytes) {
    up_to_date().upload_elements(field, level, elements, bytes);
    mark_written(field);
}
void WholeSimulation::read_elements(const std::string& field, int level, void* elements, std::int64_t bytes) {
    up_to_date().download_elements(field, level, elements, bytes);
}

void WholeSimulation::write_box(const std::string& field, int level, const rt::Box& box,
                                const void* elements) {
    up_to_date().upload_box(field, level, box, elements);
    mark_written(field);
}
void WholeSimulation::read_box(const std::string& field, int level, const rt::Box& box, void* elements) {
    up_to_date().download_box(field, level, box, elements);
}
void WholeSimulation::continue_from(const rt::StepsBefore& before) {
    start().continue_from(before);
}

void WholeSimulation::copy_cells(const std::string& field, const View& to, const View& from) {
    const rt::FieldPlan& known = plan.fields[static_cast<std::size_t>(find_field(field))];
    const std::int64_t size = rt::size_of(known.type);
    const auto first_of = [&](const View& view) {
        return rt::CellsInMemory{static_cast<char*>(view.memory) + view.first_cell * size, view.pitch,
                                 view.slice, volume_of(view, grid)};
    };
    device->device->copy_from(
        *device->device, rt::copy_of_cells(first_of(to), first_of(from), known.grid.extent(extent), size));
}

// A view of the caller's memory, for cells of this grid.
void WholeSimulation::check_view(const std::string& field, const View& cells) const {
    const rt::FieldPlan& known = plan.fields[static_cast<std::size_t>(find_field(field))];
    const std::int64_t size = rt::size_of(known.type);
    Grid own = grid;
    for (std::size_t axis = 0; axis < own.size(); ++axis)
        if (!known.grid.along[axis]) own[axis] = 1;
    if (cells.memory == nullptr)
        throw Error(ErrorCode::bad_argument, "a view needs the address of its memory");
    check_place(
        own, {cells.pitch, cells.slice, volume_of(cells, own), cells.first_cell, cells.bytes / size, size});
}

void WholeSimulation::write_view(const std::string& field, int level, const View& cells) {
    rt::Session& running = up_to_date();
    const View here = view_of(running, field, level, {});
    check_view(field, cells);
    copy_cells(field, here, cells);
    running.mark_written(field);
    mark_written(field);
}
void WholeSimulation::read_view(const std::string& field, int level, const View& cells) {
    const View here = view_of(up_to_date(), field, level, {});
    check_view(field, cells);
    copy_cells(field, cells, here);
}

template <class Work>
auto WholeSimulation::stepping(Work&& work) {
    rt::Session& running = up_to_date();
    check_faces();
    try {
        const auto result = work(running);
        publish_levels();
        return result;
    } catch (...) {
        publish_levels();  // some steps may have been done
        throw;
    }
}

void WholeSimulation::with_session(const std::function<void(rt::Session&)>& work) {
    stepping([&](rt::Session& running) {
        work(running);
        return running.steps_done();
    });
}

void WholeSimulation::step(std::int64_t count) {
    check_steps(count, steps_done());
    stepping([&](rt::Session& running) {
        running.step(count);
        return count;
    });
}

Simulation::Stepped WholeSimulation::step_until(const ConditionState& condition, std::int64_t at_most,
                                                std::int64_t every) {
    rt::RunOptions options;
    options.steps = at_most;
    options.until = condition.holds;
    options.check_every = every;
    const rt::RunResult done = stepping([&](rt::Session& running) { return running.run(options); });
    return {done.steps, done.stop == rt::RunResult::Stop::until};
}

double WholeSimulation::reduce(const std::string& reduction) {
    return start().reduction(reduction);
}

std::vector<rt::RepeatCounts> WholeSimulation::repeat_counts() {
    return start().repeat_counts();
}

}  // namespace halocline::detail
