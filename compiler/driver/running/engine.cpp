#include "compiler/driver/running/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "compiler/driver/console/progress.h"
#include "compiler/driver/console/stopwatch.h"
#include "compiler/ir/interpreter.h"
#include "compiler/ir/repeats.h"
#include "compiler/lower/shared/host_scalar.h"
#include "compiler/lower/shared/points.h"
#include "compiler/lower/shared/storage.h"
#include "runtime/core/element.h"
#include "runtime/core/level_copies.h"
#include "runtime/core/points.h"

namespace halo::driver {

namespace {

// Copies of states take at most this part of the memory that is free: kernels may need some, too.
constexpr std::int64_t kPartForCopies = 4;

class SessionEngine : public Engine {
public:
    explicit SessionEngine(rt::Session session)
        : own_(std::make_unique<rt::Session>(std::move(session))), session_(*own_) {}
    explicit SessionEngine(rt::Session* session) : session_(*session) {}

    void set_param(const std::string& name, double value) override { session_.set_param(name, value); }
    void set_coef(const std::string& name, const std::vector<double>& values) override {
        session_.set_coef(name, values);
    }
    void set_table(const std::string& name, const std::vector<double>& rows) override {
        session_.set_table(name, rows);
    }
    void set_points(const std::string& points, const std::vector<double>& positions) override {
        session_.set_points(points, positions);
    }
    void set_point_values(const std::string& points, const std::string& name,
                          const std::vector<double>& values) override {
        session_.set_point_values(points, name, values);
    }
    std::vector<double> trace(const std::string& points, const std::string& name) override {
        return session_.trace(points, name);
    }
    Extent extent() const override { return session_.geometry().extent; }
    rt::ElementType type_of(const std::string& field) const override {
        return type_in(session_.plan(), field);
    }
    rt::FieldGrid grid_of(const std::string& field) const override { return grid_in(session_.plan(), field); }
    void continue_from(const rt::StepsBefore& before) override { session_.continue_from(before); }
    bool holds(const rt::HostScalar& until) override { return session_.evaluate_with_reductions(until) != 0; }
    bool copy_level(const std::string& field, int time, const Engine& from, const std::string& from_field,
                    int from_time) override {
        const auto* other = dynamic_cast<const SessionEngine*>(&from);
        return other != nullptr && session_.copy_level(field, time, other->session_, from_field, from_time);
    }
    bool borrow_level(const std::string& field, const Engine& from, const std::string& from_field,
                      int from_time) override {
        const auto* other = dynamic_cast<const SessionEngine*>(&from);
        return other != nullptr && session_.borrow_level(field, other->session_, from_field, from_time);
    }
    std::optional<rt::CellComparison> compare_level(const std::string& field, int time,
                                                    const Engine& from) const override {
        const auto* other = dynamic_cast<const SessionEngine*>(&from);
        if (other == nullptr) return std::nullopt;
        return session_.compare_level(field, time, other->session_);
    }
    std::optional<bool> is_finite(const std::string& field) const override {
        return session_.is_finite(field, 0);
    }
    bool make_room_for_copies(const std::vector<std::string>& states) override {
        const std::int64_t free_bytes = session_.device().memory().free_bytes;
        if (rt::LevelCopies::bytes_of(session_, states) > free_bytes / kPartForCopies) return false;
        try {
            copies_.emplace(session_, states);
        } catch (const rt::Error& error) {  // another process may have been faster
            if (error.code() != rt::ErrorCode::out_of_memory) throw;
        }
        return copies_.has_value();
    }
    void copy_states() override { copies_->take(); }
    std::unique_ptr<rt::FieldsAside> make_fields_aside() override { return rt::FieldsAside::of(session_); }
    rt::RunResult run(std::int64_t steps, const std::optional<rt::HostScalar>& until) override {
        return run_beside({}, steps, until);
    }
    rt::RunResult run_beside(const std::function<void()>& work, std::int64_t steps,
                             const std::optional<rt::HostScalar>& until) override {
        rt::RunOptions options;
        options.steps = steps;
        options.until = until;
        options.meanwhile = work;
        return session_.run(options);
    }
    double reduction(const std::string& name) override { return session_.reduction(name); }
    std::vector<rt::RepeatCounts> repeat_counts() const override { return session_.repeat_counts(); }
    void step(std::int64_t count, bool with_results) override { session_.step(count, with_results); }
    void note_reduction(const std::string& name) override { session_.note_reduction(name); }
    std::vector<double> noted_reductions(const std::string& name) override {
        return session_.noted_reductions(name);
    }
    void go_back_to(std::int64_t step) override { session_.go_back_to(step); }
    std::int64_t whole_steps(std::int64_t steps) const override { return session_.whole_steps(steps); }
    rt::AsyncBlock async_block() const override { return session_.async_block(); }
    rt::Session* session() override { return &session_; }

private:
    void upload_cells(const std::string& field, int time, const rt::Box& box, const void* elements) override {
        session_.upload_box(field, time, box, elements);
    }
    void download_cells(const std::string& field, int time, const rt::Box& box, void* elements) override {
        session_.download_box(field, time, box, elements);
    }
    void download_lattice_cells(const std::string& field, int time, const rt::Lattice& lattice,
                                void* elements) override {
        session_.download_lattice(field, time, lattice, elements);
    }
    void download_copied_cells(const std::string& state, const rt::Box& box, void* elements) override {
        copies_->download_box(state, box, elements);
    }

    std::unique_ptr<rt::Session> own_;
    rt::Session& session_;
    std::optional<rt::LevelCopies> copies_;
};

void require_memory(const ir::Program& program, const Extent& extent) {
    double needed = 0;
    for (const ir::Field& field : program.fields) {
        double bytes = 8.0 * (1 + field.history + (field.role == ir::Role::state ? 1 : 0));
        for (std::int64_t cells : field.grid.extent(extent))
            bytes *= static_cast<double>(cells);
        needed += bytes;
    }
    auto available = static_cast<double>(available_memory());
    if (available > 0 && needed > 0.9 * available) {
        throw rt::Error(rt::ErrorCode::out_of_memory,
                        fmt::format("the grid needs {} of memory in the interpreter, and {} are free",
                                    format_bytes(needed), format_bytes(available)));
    }
}

class InterpreterEngine : public Engine {
public:
    InterpreterEngine(ir::Program program, const Extent& extent)
        : program_(std::move(program)),
          extent_(extent),
          interpreter_(program_, extent, ir::Arithmetic::declared) {
        for (const ir::Param& param : program_.params)
            params_.push_back(param.default_value);
    }

    void set_param(const std::string& name, double value) override {
        for (std::size_t i = 0; i < program_.params.size(); ++i) {
            if (program_.params[i].name == name) params_[i] = value;
        }
        interpreter_.set_param(name, value);
        places_due_ = true;
    }
    void set_points(const std::string& points, const std::vector<double>& positions) override {
        positions_[points] = positions;
        places_due_ = true;
    }
    void set_point_values(const std::string& points, const std::string& name,
                          const std::vector<double>& values) override {
        for (const ir::Points& declared : program_.points) {
            if (declared.name != points) continue;
            const std::vector<std::string>& columns = declared.columns;
            if (std::find(columns.begin(), columns.end(), name) != columns.end()) {
                interpreter_.set_column(points, name, values);
            } else {
                interpreter_.set_trace(points, name, values);
            }
        }
    }
    std::vector<double> trace(const std::string& points, const std::string& name) override {
        return interpreter_.trace(points, name);
    }
    void set_coef(const std::string& name, const std::vector<double>& values) override {
        interpreter_.set_coef(name, values);
    }
    void set_table(const std::string& name, const std::vector<double>& rows) override {
        interpreter_.set_table(name, rows);
    }
    Extent extent() const override { return extent_; }
    rt::ElementType type_of(const std::string& field) const override {
        return lower::element_type(declared(field).storage);
    }
    rt::FieldGrid grid_of(const std::string& field) const override { return declared(field).grid; }
    void continue_from(const rt::StepsBefore& before) override {
        interpreter_.continue_from(before.steps, before.reductions);
        for (const rt::StepsBefore::Trace& trace : before.traces)
            interpreter_.set_trace(trace.points, trace.name, trace.rows);
    }
    // What was sampled in the steps before stays.
    void go_back_to(std::int64_t step) override {
        interpreter_.continue_from(step, {});
        for (const ir::Points& points : program_.points) {
            const std::size_t rows = positions_[points.name].size() /
                                     static_cast<std::size_t>(program_.rank()) *
                                     static_cast<std::size_t>(step);
            for (const ir::Points::Trace& trace : points.traces) {
                if (!trace.sampled) continue;
                std::vector<double> sampled = interpreter_.trace(points.name, trace.name);
                sampled.resize(rows);
                interpreter_.set_trace(points.name, trace.name, sampled);
            }
        }
    }
    bool holds(const rt::HostScalar& until) override {
        return rt::evaluate(until, until_values(), extent_, static_cast<double>(interpreter_.steps_done())) !=
               0;
    }
    rt::RunResult run(std::int64_t steps, const std::optional<rt::HostScalar>& until) override {
        rt::RunResult result;
        if (places_due_ && steps > 0) place_points();
        while (result.steps < steps) {
            interpreter_.step();
            ++result.steps;
            if (until && holds(*until)) {
                result.stop = rt::RunResult::Stop::until;
                break;
            }
        }
        return result;
    }
    double reduction(const std::string& name) override { return interpreter_.reduction(name); }
    std::vector<rt::RepeatCounts> repeat_counts() const override {
        std::vector<rt::RepeatCounts> all;
        for (std::size_t i = 0; i < program_.repeat_ends.size(); ++i) {
            const ir::RepeatEnd& end = program_.repeat_ends[i];
            const ir::RepeatCounts& counts = interpreter_.iterations(i);
            all.push_back({end.text, ir::most_iterations(program_, end), counts.total, counts.most,
                           counts.unfinished, ir::own_reductions(program_, end),
                           ir::is_within_another(program_, end)});
        }
        return all;
    }

private:
    // Uploads the cells of a box; an i64 is kept as its bits.
    void upload_cells(const std::string& field, int time, const rt::Box& box, const void* elements) override {
        std::vector<double>& level = interpreter_.field(field, time);
        const rt::ElementType type = type_of(field);
        const auto* from = static_cast<const char*>(elements);
        for_runs(box, box, whole_box_of(field),
                 [&](std::int64_t in_box, std::int64_t in_whole, std::int64_t count) {
                     const char* const run = from + in_box * rt::size_of(type);
                     double* const to = level.data() + in_whole;
                     if (type == rt::ElementType::i64)
                         std::memcpy(to, run, static_cast<std::size_t>(count * 8));
                     else
                         rt::decode(run, count, type, to);
                 });
    }
    void download_cells(const std::string& field, int time, const rt::Box& box, void* elements) override {
        const std::vector<double>& level = interpreter_.field(field, time);
        const rt::ElementType type = type_of(field);
        auto* to = static_cast<char*>(elements);
        for_runs(box, box, whole_box_of(field),
                 [&](std::int64_t in_box, std::int64_t in_whole, std::int64_t count) {
                     const double* const run = level.data() + in_whole;
                     char* const cells = to + in_box * rt::size_of(type);
                     if (type == rt::ElementType::i64)
                         std::memcpy(cells, run, static_cast<std::size_t>(count * 8));
                     else
                         rt::encode(run, count, type, cells);
                 });
    }
    const ir::Field& declared(const std::string& name) const {
        for (const ir::Field& field : program_.fields) {
            if (field.name == name) return field;
        }
        throw rt::Error(rt::ErrorCode::bad_argument, fmt::format("there is no field `{}`", name));
    }
    void place_points() {
        std::vector<double> params;
        for (const std::optional<double>& param : params_)
            params.push_back(param.value_or(std::nan("")));
        rt::PointGrid grid;
        grid.rank = program_.rank();
        grid.extent = extent_;
        for (std::size_t axis = 0; axis < program_.axes.size(); ++axis) {
            const ir::Axis& declared = program_.axes[axis];
            grid.spacing[axis] =
                rt::evaluate(lower::host_scalar(program_, declared.spacing), params, extent_);
            grid.origin[axis] = rt::evaluate(lower::host_scalar(program_, declared.origin), params, extent_);
        }
        for (const rt::PointsPlan& plan : lower::point_plans(program_)) {
            const std::vector<double>& positions = positions_[plan.name];
            std::vector<std::vector<ir::PointWeight>> touched;
            const auto rank = static_cast<std::size_t>(grid.rank);
            for (std::size_t point = 0; point * rank < positions.size(); ++point) {
                touched.emplace_back();
                for (const auto& [cell, weight] :
                     rt::touched_cells(plan, grid, positions.data() + point * rank, point))
                    touched.back().push_back({cell, weight});
            }
            interpreter_.set_points(plan.name, std::move(touched));
        }
        places_due_ = false;
    }
    // The params, then the reductions in the order of their statements: what rt::RunOptions::until counts.
    std::vector<double> until_values() const {
        std::vector<double> values;
        for (const std::optional<double>& param : params_)
            values.push_back(param.value_or(std::nan("")));
        for (const ir::Statement& statement : program_.statements) {
            if (const auto* reduce = std::get_if<ir::Reduce>(&statement))
                values.push_back(interpreter_.reduction(reduce->name));
        }
        return values;
    }

    ir::Program program_;
    Extent extent_;
    ir::Interpreter interpreter_;
    std::vector<std::optional<double>> params_;
    std::map<std::string, std::vector<double>> positions_;  // by points
    bool places_due_ = true;                                // they or the params have changed
};

}  // namespace

void Engine::upload(const std::string& field, int time, const FieldValues& values) {
    upload_box(field, time, whole_box_of(field), values);
}

FieldValues Engine::download(const std::string& field, int time) {
    return download_box(field, time, whole_box_of(field));
}

rt::Box Engine::whole_box_of(const std::string& field) const {
    return rt::box_of_field(grid_of(field), rt::whole_box(extent()));
}

namespace {

std::vector<rt::Box> boxes_of_field(const rt::FieldGrid& grid, std::vector<rt::Box> boxes) {
    for (rt::Box& box : boxes)
        box = rt::box_of_field(grid, box);
    return boxes;
}

}  // namespace

std::vector<rt::Box> Engine::own_boxes_of(const std::string& field) const {
    return boxes_of_field(grid_of(field), own_boxes());
}

std::vector<rt::Box> Engine::computed_boxes_of(const std::string& field) const {
    return boxes_of_field(grid_of(field), computed_boxes());
}

void Engine::upload_box(const std::string& field, int time, const rt::Box& box, const FieldValues& values) {
    if (values.type != type_of(field) || values.size() != box.cells())
        throw rt::Error(rt::ErrorCode::bad_argument,
                        fmt::format("{} values of {} were given to {} cells of field {}", values.size(),
                                    rt::name_of(values.type), box.cells(), field));
    Stopwatch watch;
    upload_cells(field, time, box, values.data());
    upload_seconds_ += watch.lap();
}

FieldValues Engine::download_lattice(const std::string& field, int time, const rt::Lattice& lattice,
                                     std::vector<std::byte> memory) {
    FieldValues values{type_of(field), std::move(memory)};
    download_lattice_cells(field, time, lattice, values.elements.data());
    return values;
}

void Engine::download_lattice_cells(const std::string& field, int time, const rt::Lattice& lattice,
                                    void* elements) {
    const rt::Box box = rt::bounds(lattice);
    if (box.cells() == lattice.cells()) return download_cells(field, time, box, elements);
    const FieldValues all = download_box(field, time, box);
    const auto size = static_cast<std::size_t>(rt::size_of(all.type));
    auto* to = static_cast<std::byte*>(elements);
    const rt::Box numbers = rt::whole_box(lattice.count);
    std::array<std::int64_t, rt::kMaxRank> number{};
    do {
        const std::int64_t from = box.index(rt::cell_of(lattice, number));
        std::memcpy(to, all.elements.data() + static_cast<std::size_t>(from) * size, size);
        to += size;
    } while (rt::advance(number, numbers, 0));
}

FieldValues Engine::download_box(const std::string& field, int time, const rt::Box& box) {
    FieldValues values = FieldValues::zeros(type_of(field), box.cells());
    download_cells(field, time, box, values.elements.data());
    return values;
}

FieldValues Engine::download_copy(const std::string& state, const rt::Box& box) {
    FieldValues values = FieldValues::zeros(type_of(state), box.cells());
    download_copied_cells(state, box, values.elements.data());
    return values;
}

namespace {

const rt::FieldPlan& field_in(const rt::LaunchPlan& plan, const std::string& field) {
    for (const rt::FieldPlan& known : plan.fields)
        if (known.name == field) return known;
    throw rt::Error(rt::ErrorCode::bad_argument, fmt::format("there is no field `{}`", field));
}

}  // namespace

rt::ElementType type_in(const rt::LaunchPlan& plan, const std::string& field) {
    return field_in(plan, field).type;
}

rt::FieldGrid grid_in(const rt::LaunchPlan& plan, const std::string& field) {
    return field_in(plan, field).grid;
}

FieldValues FieldValues::zeros(rt::ElementType type, std::int64_t cells) {
    FieldValues values;
    values.type = type;
    values.elements.resize(static_cast<std::size_t>(cells * rt::size_of(type)));
    return values;
}

FieldValues FieldValues::rounded(rt::ElementType type, const std::vector<double>& from) {
    FieldValues values = zeros(type, static_cast<std::int64_t>(from.size()));
    rt::encode(from.data(), static_cast<std::int64_t>(from.size()), type, values.elements.data());
    return values;
}

double FieldValues::at(std::int64_t index) const {
    return rt::decode(elements.data() + index * rt::size_of(type), type);
}

FieldValues::NotFinite FieldValues::not_finite() const {
    NotFinite result;
    result.count = rt::count_not_finite(data(), size(), type);
    if (result.count == 0) return result;
    result.first = 0;
    while (std::isfinite(at(result.first)))
        ++result.first;
    return result;
}

std::unique_ptr<Engine> make_session_engine(rt::Session session) {
    return std::make_unique<SessionEngine>(std::move(session));
}

std::unique_ptr<Engine> make_engine_on(rt::Session& session) {
    return std::make_unique<SessionEngine>(&session);
}

std::unique_ptr<Engine> make_interpreter_engine(ir::Program program, const Extent& extent) {
    require_memory(program, extent);
    return std::make_unique<InterpreterEngine>(std::move(program), extent);
}

}  // namespace halo::driver
