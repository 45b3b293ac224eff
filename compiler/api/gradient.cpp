// Gradients of simulations: a program's steps, and those of its adjoint.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/api/compiled_source.h"
#include "compiler/api/errors.h"
#include "compiler/driver/running/gradient.h"
#include "compiler/driver/running/pieces_engine.h"
#include "halocline/halocline.hpp"
#include "runtime/api/arguments.h"
#include "runtime/api/errors.h"
#include "runtime/api/pieces_simulation.h"
#include "runtime/api/whole_simulation.h"

namespace halocline {

namespace adjoint = halo::adjoint;
namespace driver = halo::driver;
namespace ir = halo::ir;
namespace rt = halo::rt;
using detail::refuse;

namespace detail {

using Kind = adjoint::Adjoint::Kind;

struct GradientState {
    std::shared_ptr<SimulationState> given;  // of the caller's
    // That does the steps: the given one, or of pieces another one, which is cut as the adjoint is.
    std::shared_ptr<SimulationState> forward, backward;
    std::shared_ptr<SimulationState> earlier;  // undoes all steps but the last; null: `backward` does
    bool lacks_memory = false;                 // for it
    std::shared_ptr<CompiledSource> source;
    std::shared_ptr<const CompiledSource::Derived> derived;
    GradientOptions options;
    bool of_trace = false;
    // Memory for snapshots of so many steps, for the next compute(), too.
    std::unique_ptr<driver::KeptStates> kept;
    rt::SnapshotPlaces places;
    std::int64_t steps = 0;
    driver::GradientResult result;  // of the last compute()
    bool is_computed = false;

    GradientState() = default;
    GradientState(const GradientState&) = delete;
    GradientState& operator=(const GradientState&) = delete;
    ~GradientState() {
        if (kept == nullptr) return;
        const DeviceLocks locks(given->devices);
        kept.reset();
    }

    const ir::Program& program() const { return source->checked().program; }
    const adjoint::Adjoint& made() const { return derived->made; }

    std::vector<std::string> names(Kind kind) const {
        std::vector<std::string> found;
        for (const adjoint::Adjoint::Gradient& each : made().gradients)
            if (each.kind == kind && std::ranges::count(found, each.with) == 0) found.push_back(each.with);
        return found;
    }
    void require(Kind kind, const std::string& name, const char* what) const {
        const std::vector<std::string> known = names(kind);
        if (std::ranges::count(known, name) == 0)
            refuse(fmt::format("the gradient is with respect to no {} '{}'{}", what, name,
                               known.empty() ? "" : fmt::format("; there are {}", fmt::join(known, ", "))));
        if (!is_computed) refuse("a gradient has no values before compute()");
    }
};

namespace {

[[noreturn]] void rethrow_refused(const adjoint::RefusedError& refused, const driver::CheckedSpec& spec) {
    if (refused.where() == halo::SourceRange{})
        throw Error(ErrorCode::bad_argument, refused.mend().empty()
                                                 ? refused.what()
                                                 : std::string(refused.what()) + "; " + refused.mend());
    const std::vector<halo::Diagnostic> diagnostics{
        {halo::DiagnosticKind::not_built_yet, refused.where(), refused.what(), {}, {refused.mend()}, {}}};
    throw Error(ErrorCode::unsupported, halo::render(diagnostics, spec.source),
                diagnostics_of(diagnostics, spec.source));
}

// Names that there are, with what is meant by them.
void check_objective(const ir::Program& program, const GradientOptions& options) {
    if (options.with.empty())
        refuse("a gradient is with respect to something: name inputs, states, params or injected traces");
    if (options.snapshots && *options.snapshots < 1) refuse("a gradient keeps one snapshot or more");
    if (!options.of_fields.empty()) {
        if (!options.of.empty() || options.every_step)
            refuse("a gradient of fields is of what the last step leaves; leave `of` and every_step out");
        return;
    }
    std::vector<std::string> known = driver::sampled_traces(program);
    const bool is_trace = std::ranges::count(known, options.of) > 0;
    if (is_trace && options.every_step)
        refuse("a trace has numbers of every step already; leave every_step out");
    for (const ir::Statement& statement : program.statements)
        if (const auto* reduce = std::get_if<ir::Reduce>(&statement)) known.push_back(reduce->name);
    if (std::ranges::count(known, options.of) == 0)
        refuse_name(program.name, "reduction or sampled trace", options.of, known);
}

bool of_fields(const GradientState& state) {
    return !state.options.of_fields.empty();
}

// Throws where there is none, or what is asked for cannot be.
std::shared_ptr<const CompiledSource::Derived> derive(CompiledSource& source,
                                                      const GradientOptions& options) {
    check_objective(source.checked().program, options);
    try {
        return source.adjoint_of(options.of_fields.empty()
                                     ? adjoint::Request{{options.of}, options.with, options.every_step}
                                     : adjoint::Request{options.of_fields, options.with, false, true});
    } catch (const adjoint::RefusedError& refused) {
        rethrow_refused(refused, *source.checked().spec);
    }
}

std::shared_ptr<CompiledSource> differentiable_source(const std::shared_ptr<ProgramSource>& of) {
    std::shared_ptr<CompiledSource> source = std::dynamic_pointer_cast<CompiledSource>(of);
    if (source == nullptr)
        refuse(fmt::format("gradients are of programs from compile(), and '{}' comes from a bundle",
                           of->info().name));
    return source;
}

bool is_in_pieces(const GradientState& state) {
    return state.given->devices.size() > 1;
}

std::shared_ptr<SimulationState> simulation_of(const GradientState& state,
                                               const std::shared_ptr<CompiledSource>& source) {
    const std::vector<std::shared_ptr<DeviceState>>& devices = state.given->devices;
    if (is_in_pieces(state))
        return std::make_shared<PiecesSimulation>(Program(source), devices, state.given->grid);
    return std::make_shared<WholeSimulation>(Program(source), devices.front(), state.given->grid,
                                             SimulationOptions{});
}

void with_engine(SimulationState& simulation, const ir::Program& program,
                 const std::function<void(driver::Engine&)>& work) {
    if (auto* pieces = dynamic_cast<PiecesSimulation*>(&simulation))
        return work(*driver::make_engine_on(program, pieces->start()));
    dynamic_cast<WholeSimulation&>(simulation).with_session([&](rt::Session& session) {
        work(*driver::make_engine_on(session));
    });
}

std::shared_ptr<GradientState> make_state(const Simulation& simulation, const GradientOptions& options) {
    auto state = std::make_shared<GradientState>();
    state->source = differentiable_source(simulation.state()->source);
    state->given = state->forward = simulation.state();
    state->options = options;
    state->derived = derive(*state->source, options);
    state->of_trace = driver::is_sampled(state->program(), options.of);
    if (state->made().gradients.empty()) return state;  // all derivatives are 0
    const DeviceLocks locks(state->given->devices);
    if (is_in_pieces(*state))
        state->forward = simulation_of(*state, state->source->cut_with(*state->derived));
    state->backward = simulation_of(*state, state->derived->source);
    return state;
}

// What the adjoint was given for what the forward program was given.
void give_numbers(const SimulationState& forward, SimulationState& to) {
    const std::vector<ParamInfo>& known = to.known_params;
    for (const ParamInfo& param : forward.known_params)
        if (std::ranges::count(known, param.name, &ParamInfo::name) > 0 &&
            (param.default_value || forward.params.contains(param.name)))
            to.set(param.name, forward.get(param.name));
    for (const WeightsInfo& each : to.source->info().weights)
        if (const auto given = forward.given.weights.find(each.name); given != forward.given.weights.end())
            to.set_weights(each.name, given->second);
}

// What the caller's pieces were given becomes that of those which do the steps, a part of a field at a time.
void give_all(const GradientState& state) {
    constexpr std::int64_t kCellsAtOnce = std::int64_t{1} << 23;
    give_numbers(*state.given, *state.forward);
    for (const auto& [name, rows] : state.given->given.tables)
        state.forward->set_table(name, rows);
    with_engine(*state.given, state.program(), [&](driver::Engine& from) {
        with_engine(*state.forward, state.program(), [&](driver::Engine& to) {
            for (const FieldInfo& field : state.source->info().fields)
                for (int time = 0; field.role != Role::output && time >= -field.past; --time)
                    for (const rt::Box& box : rt::slabs(from.whole_box_of(field.name), kCellsAtOnce))
                        to.upload_box(field.name, time, box, from.download_box(field.name, time, box));
        });
    });
}

std::vector<driver::PointData> given_points(const GradientState& state) {
    const GivenNumbers& given = state.given->given;
    std::vector<driver::PointData> all;
    for (const ir::Points& points : state.program().points) {
        const auto places = given.points.find(points.name);
        if (places == given.points.end())
            refuse(fmt::format("points '{}' of '{}' were given no positions", points.name,
                               state.program().name));
        driver::PointData data{points.name, places->second, {}};
        for (const auto& [name, values] : given.point_values)
            if (name.first == points.name)
                data.numbers.push_back(
                    {name.second, std::ranges::count(points.columns, name.second) == 0, values});
        all.push_back(std::move(data));
    }
    return all;
}

void check_rows(const GradientState& state, const std::vector<driver::PointData>& points, std::int64_t steps,
                const OfTrace& of_trace) {
    const bool has_weights = of_trace.weights.data() != nullptr,
               has_measured = of_trace.measured.data() != nullptr;
    if (!state.of_trace) {
        if (has_weights || has_measured)
            refuse(fmt::format("weights and what was measured are of a trace, and {} is a reduction",
                               state.options.of));
        return;
    }
    if (has_weights == has_measured)
        refuse(fmt::format(
            "{} is a trace, and a gradient is of one number: give either what was measured in its "
            "place, or the weights that its numbers are multiplied with",
            state.options.of));
    const auto set = std::ranges::find(points, state.options.of.substr(0, state.options.of.find('.')),
                                       &driver::PointData::points);
    const auto count = static_cast<std::int64_t>(set->positions.size()) / state.program().rank();
    const std::size_t given = std::max(of_trace.weights.size(), of_trace.measured.size());
    if (static_cast<std::int64_t>(given) != steps * count)
        refuse(fmt::format("{} has {} steps of {} points, {} numbers, and {} were given", state.options.of,
                           steps, count, steps * count, given));
    check_finite(has_weights ? of_trace.weights : of_trace.measured,
                 fmt::format("what is given for {}", state.options.of));
}

// A level of the given program, and the adjoint's field for it, where that is needed.
void add_level(const GradientState& state, const std::string& field, int level, const std::string& name,
               std::vector<Gradient::Level>& levels) {
    const std::vector<FieldInfo>& known = state.derived->source->info().fields;
    const auto found = std::ranges::find(known, name, &FieldInfo::name);
    if (found != known.end()) levels.push_back({field, level, name, found->type});
}

std::vector<Gradient::Level> weights_of(const GradientState& state) {
    std::vector<Gradient::Level> levels;
    if (state.backward == nullptr) return levels;
    const adjoint::Adjoint& made = state.made();
    for (const adjoint::Adjoint::Part& part : made.parts)
        add_level(state, part.state, part.time, part.field, levels);
    for (const adjoint::Adjoint::Seed& seed : made.seeds)
        if (seed.kind == Kind::field) add_level(state, seed.of, 0, seed.name, levels);
    return levels;
}

void check_weights(const GradientState& state, std::span<const FieldWeights> weights) {
    const std::vector<FieldInfo>& known = state.source->info().fields;
    for (const FieldWeights& each : weights) {
        const FieldInfo& field =
            known[static_cast<std::size_t>(find_named(known, each.field, "field", state.program().name))];
        if (field.role == Role::input || each.level > 0 || each.level < -field.past)
            refuse(fmt::format("weights are of levels that steps leave, and level {} of '{}' is none",
                               each.level, each.field));
    }
}

void start_again(SimulationState& simulation) {
    if (auto* pieces = dynamic_cast<PiecesSimulation*>(&simulation)) return pieces->start().start_again();
    dynamic_cast<WholeSimulation&>(simulation).with_session([](rt::Session& session) {
        session.start_again();
    });
}

void start(SimulationState& simulation) {
    if (auto* pieces = dynamic_cast<PiecesSimulation*>(&simulation))
        pieces->start();
    else
        dynamic_cast<WholeSimulation&>(simulation).start();
}

// What the adjoint starts with: 0, but for what is given. A level that does not count has no field there.
void give_weights(GradientState& state, std::span<const FieldWeights> weights) {
    check_weights(state, weights);
    start_again(*state.backward);
    const std::vector<Gradient::Level> known = weights_of(state);
    for (const Gradient::Level& level : known) {  // of outputs they are inputs, which stay as they were
        if (std::ranges::count(state.made().seeds, level.name, &adjoint::Adjoint::Seed::name) == 0) continue;
        const std::vector<double> zeros(static_cast<std::size_t>(driver::cell_count(state.backward->extent)));
        state.backward->write(level.name, 0, std::span<const double>(zeros));
    }
    for (const FieldWeights& each : weights) {
        const auto place = std::ranges::find_if(known, [&](const Gradient::Level& level) {
            return level.field == each.field && level.level == each.level;
        });
        if (place == known.end()) continue;
        if (each.elements.empty() && is_in_pieces(state))
            refuse(
                fmt::format("the weights of '{}' are cells in the memory of one device, and this simulation "
                            "is in pieces on several; give them as elements in the host's memory",
                            each.field));
        if (each.elements.empty())
            state.backward->write_view(place->name, 0, each.cells);
        else
            state.backward->write_elements(place->name, 0, each.elements.data(),
                                           static_cast<std::int64_t>(each.elements.size()));
    }
}

// Compiled once there are steps for it. Where it has no memory, `backward` does without it, in less.
void start_earlier(GradientState& state, std::int64_t steps) {
    if (steps < 2 || !state.derived->earlier || state.lacks_memory) return;
    if (!state.earlier) state.earlier = simulation_of(state, state.derived->earlier_source);
    try {
        start(*state.earlier);
    } catch (const rt::Error& error) {
        if (error.code() != rt::ErrorCode::out_of_memory) throw;
        state.lacks_memory = true;
        state.earlier.reset();
    }
}

void with_engines(const GradientState& state,
                  const std::function<void(const driver::GradientEngines&)>& work) {
    with_engine(*state.forward, state.program(), [&](driver::Engine& forward) {
        with_engine(*state.backward, state.made().program, [&](driver::Engine& backward) {
            if (!state.earlier) return work({forward, backward});
            with_engine(*state.earlier, state.derived->earlier->program,
                        [&](driver::Engine& earlier) { work({forward, backward, &earlier}); });
        });
    });
}

GradientReport compute(GradientState& state, std::int64_t steps, const OfTrace& of_trace,
                       std::span<const FieldWeights> weights) {
    const DeviceLocks locks(state.given->devices);
    if (steps < 1) refuse("a gradient is of one step or more");
    if (state.given->steps_done() != 0)
        refuse(fmt::format(
            "a gradient is of steps from the start, and this simulation has done {}; make another one",
            state.given->steps_done()));
    const std::vector<driver::PointData> points = given_points(state);
    check_rows(state, points, steps, of_trace);
    state.is_computed = false;
    GradientReport report;
    report.steps = steps;
    if (state.backward == nullptr) {
        state.is_computed = true;
        return report;
    }
    if (is_in_pieces(state)) give_all(state);
    with_engines(state, [](const driver::GradientEngines& engines) {
        driver::let_lie_alike(engines.backward, engines.forward);
    });
    start_earlier(state, steps);
    give_weights(state, weights);
    give_numbers(*state.given, *state.backward);
    if (state.earlier) give_numbers(*state.given, *state.earlier);
    driver::GradientPlan plan{state.program(), state.made(),
                              state.earlier ? &*state.derived->earlier : nullptr, state.options.of,
                              state.options.every_step};
    plan.weights.assign(of_trace.weights.begin(), of_trace.weights.end());
    plan.measured.assign(of_trace.measured.begin(), of_trace.measured.end());
    plan.points = points;
    plan.steps = steps;
    plan.returns = true;
    with_engines(state, [&](const driver::GradientEngines& engines) {
        driver::share_arrays(engines, plan);
        driver::Engine& ahead = engines.forward;
        if (state.kept == nullptr || state.steps != steps) {
            state.kept.reset();
            // Where steps back read no state, that at the start alone is kept.
            state.places = driver::choose_snapshots(
                state.options.snapshots, driver::reads_states(plan) ? steps : 1, ahead, state.program());
            state.kept = driver::make_kept_states(ahead, state.program(), state.places);
            state.steps = steps;
        }
        plan.snapshots = state.places;
        state.result = driver::run_gradient(engines, plan, *state.kept, [](std::int64_t) {});
        report.snapshots = plan.snapshots.count();
        report.snapshot_bytes = driver::snapshot_bytes(ahead, state.program(), plan.snapshots);
        report.snapshots_on_host = plan.snapshots.on_host;
    });
    state.is_computed = true;
    report.objective = state.result.objective;
    // Of fields the adjoint needs no result of the last step.
    const std::int64_t once = of_fields(state) ? steps - 1 : steps;
    report.steps_done_again = std::max<std::int64_t>(state.result.steps_forward - once, 0);
    report.seconds = state.result.seconds;
    return report;
}

}  // namespace

}  // namespace detail

using detail::Kind;

void check_gradient(const Program& program, const GradientOptions& options) {
    detail::translated_of_compiler(
        [&] { detail::derive(*detail::differentiable_source(program.source()), options); });
}

Gradient::Gradient(const Simulation& simulation, const GradientOptions& options)
    : state_(detail::translated_of_compiler([&] { return detail::make_state(simulation, options); })) {}

GradientReport Gradient::compute(std::int64_t steps, const OfTrace& of_trace) {
    return detail::translated_of_compiler([&] {
        if (detail::of_fields(*state_)) refuse("a gradient of fields is computed with their weights");
        return detail::compute(*state_, steps, of_trace, {});
    });
}

GradientReport Gradient::compute(std::int64_t steps, std::span<const FieldWeights> weights) {
    return detail::translated_of_compiler([&] {
        if (!detail::of_fields(*state_))
            refuse(fmt::format("{} is no field, so it has no weights", state_->options.of));
        return detail::compute(*state_, steps, {}, weights);
    });
}

double Gradient::number(const std::string& param) const {
    const detail::DeviceLocks locks(state_->given->devices);
    state_->require(Kind::number, param, "parameter");
    return std::ranges::find(state_->result.numbers, param, &std::pair<std::string, double>::first)->second;
}

std::vector<double> Gradient::trace(const std::string& injected) const {
    const detail::DeviceLocks locks(state_->given->devices);
    state_->require(Kind::trace, injected, "trace");
    return std::ranges::find(state_->result.traces, injected,
                             &std::pair<std::string, std::vector<double>>::first)
        ->second;
}

std::vector<double> Gradient::seen() const {
    const detail::DeviceLocks locks(state_->given->devices);
    if (!state_->of_trace) refuse(fmt::format("{} is no trace", state_->options.of));
    return state_->result.rows;
}

std::string Gradient::field_name(const std::string& field) const {
    const detail::DeviceLocks locks(state_->given->devices);
    state_->require(Kind::field, field, "field");
    return std::ranges::find_if(
               state_->made().gradients,
               [&](const auto& each) { return each.kind == Kind::field && each.with == field; })
        ->name;
}

std::vector<double> Gradient::read(const std::string& field) const {
    return adjoint().read(field_name(field));
}

Simulation Gradient::adjoint() const {
    if (state_->backward == nullptr)
        refuse("nothing depends on what the gradient is with respect to, so there is no adjoint");
    return Simulation(state_->backward);
}

std::vector<Gradient::Level> Gradient::weights() const {
    return detail::weights_of(*state_);
}
std::vector<Gradient::Level> Gradient::levels() const {
    std::vector<Level> levels;
    if (state_->backward == nullptr) return levels;
    for (const adjoint::Adjoint::Gradient& each : state_->made().gradients)
        if (each.kind == Kind::field) detail::add_level(*state_, each.with, each.time, each.name, levels);
    return levels;
}

std::vector<std::string> Gradient::fields() const {
    return state_->names(Kind::field);
}
std::vector<std::string> Gradient::numbers() const {
    return state_->names(Kind::number);
}
std::vector<std::string> Gradient::traces() const {
    return state_->names(Kind::trace);
}

}  // namespace halocline
