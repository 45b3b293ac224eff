#include "runtime/core/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/core/plan_check.h"
#include "runtime/core/session_state.h"
#include "runtime/core/text.h"

namespace halo::rt {

namespace {

// Finds an entry by name, or throws with the names that there are.
template <class Item>
int find_named(const std::vector<Item>& items, const std::string& name, const char* kind,
               const std::string& plan) {
    std::string known;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].name == name) return static_cast<int>(i);
        known += (known.empty() ? "'" : ", '") + items[i].name + "'";
    }
    throw Error(ErrorCode::bad_argument,
                known.empty() ? fmt::format("'{}' has no {}, so no '{}'", plan, kind, name)
                              : fmt::format("'{}' has no {} '{}'; it has {}", plan, kind, name, known));
}

}  // namespace

int Session::State::find_field(const std::string& name, int time) const {
    const int index = find_named(plan.fields, name, "field", plan.name);
    const FieldPlan& field = plan.fields[index];
    if (time > 0 || time < -field.history)
        throw Error(ErrorCode::bad_argument,
                    field.history == 0
                        ? fmt::format("field '{}' keeps no level but the present one", name)
                        : fmt::format("field '{}' keeps {} past level{}; there is no level {:+}", name,
                                      field.history, field.history == 1 ? "" : "s", time));
    return index;
}

bool Session::State::reads_reduction(const HostScalar& scalar, std::size_t reduction) const {
    return std::any_of(scalar.steps.begin(), scalar.steps.end(), [&](const HostScalar::Step& step) {
        return step.op == HostScalar::Op::param && step.index >= 0 &&
               static_cast<std::size_t>(step.index) == params.size() + reduction;
    });
}

double Session::State::reduce(int index) {
    if (steps_done == 0)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("'{}' has no value before the first step", plan.reductions[index].name));
    if (steps_done == continued_from && latest[index]) return *latest[index];
    return combine(index);
}

// The phase stays as it is, so that levels are where they were.
void Session::State::continue_from(const StepsBefore& before) {
    if (steps_done != continued_from)
        throw Error(ErrorCode::bad_argument, "a session that has done steps goes on from its own");
    phase_shift = phase() - before.steps;
    steps_done = continued_from = before.steps;
    for (const auto& [name, value] : before.reductions) {
        const int index = find_named(plan.reductions, name, "reduction", plan.name);
        latest[static_cast<std::size_t>(index)] = value;
        reduced[static_cast<std::size_t>(index)] = true;
    }
    for (const StepsBefore::Trace& trace : before.traces)
        continue_trace(find_named(plan.points, trace.points, "set of points", plan.name), trace.name,
                       trace.rows);
}

std::vector<double> Session::State::latest_reductions(const HostScalar& scalar) {
    std::vector<double> values(plan.reductions.size());
    for (const HostScalar::Step& step : scalar.steps) {
        if (step.op != HostScalar::Op::reduction) continue;
        std::optional<double>& value = latest[step.index];
        if (!reduced[step.index]) value = plan.reductions[step.index].initial;
        if (!value)
            value =
                combine_reduction ? combine_reduction(plan.reductions[step.index].name) : combine(step.index);
        values[step.index] = *value;
    }
    return values;
}

double Session::State::combine(int index) const {
    const int place = block_row < 0 ? -1 : place_in_block(index);
    if (place >= 0)
        return results_of(index, block_partials_of_step(place), plan.time_block->kernel.blocks).combined();
    return results_of(index, partials[index].address(), block_count(plan.reductions[index].kernel))
        .combined();
}

PartialResults Session::State::results_of(int index, const void* on_device, std::int64_t count) const {
    const ReductionPlan& reduction = plan.reductions[index];
    PartialResults results;
    results.op = reduction.op;
    results.square_root = reduction.square_root;
    results.values.resize(static_cast<std::size_t>(count));
    device->copy_to_host(results.values.data(), on_device, 8 * count);
    return results;
}

double PartialResults::combined() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double result = 0;
    switch (op) {
        case ReductionPlan::Op::sum:
            for (double value : values)
                result += value;
            break;
        case ReductionPlan::Op::min:
            result = kInfinity;
            for (double value : values)
                result = value < result || std::isnan(value) ? value : result;
            break;
        case ReductionPlan::Op::max:
            result = -kInfinity;
            for (double value : values)
                result = value > result || std::isnan(value) ? value : result;
            break;
    }
    return square_root ? std::sqrt(result) : result;
}

std::vector<double> Session::State::reduce_for(const HostScalar& scalar) {
    std::vector<double> values(plan.reductions.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        if (reads_reduction(scalar, i)) values[i] = reduce(static_cast<int>(i));
    return values;
}

Session::Session(LaunchPlan plan, const std::array<std::int64_t, kMaxRank>& extent, Device& device,
                 std::vector<std::unique_ptr<Module>> modules, const SessionOptions& options)
    : state_(std::make_unique<State>(std::move(plan), extent, device, std::move(modules), options)) {}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

const LaunchPlan& Session::plan() const {
    return state_->plan;
}
const Geometry& Session::geometry() const {
    return state_->geometry;
}
Device& Session::device() const {
    return *state_->device;
}
std::int64_t Session::cells() const {
    return state_->cell_count();
}
std::int64_t Session::array_bytes() const {
    return state_->array_bytes();
}
void Session::expect_steps(std::int64_t at_a_time) {
    state_->expect_steps(at_a_time);
}

int Session::steps_at_once() const {
    return state_->time_tiles ? state_->time_tiles->shape.steps : 1;
}

std::int64_t Session::whole_steps(std::int64_t steps) const {
    const State& s = *state_;
    if (s.block_kernel == nullptr || s.plan.time_block->resident() != nullptr ||
        steps < s.plan.time_block->steps)
        return steps;
    const std::int64_t at_once = s.plan.time_block->steps;
    return steps / at_once * at_once + (s.plan.time_block->is_whole ? 0 : 1);
}

std::int64_t Session::steps_done() const {
    return state_->steps_done;
}
KernelInfo Session::kernel_info(int index) const {
    return state_->kernels.at(index)->info();
}
std::optional<KernelInfo> Session::time_block_info() const {
    if (state_->block_kernel == nullptr) return std::nullopt;
    return state_->block_kernel->info();
}
void Session::synchronize() {
    state_->device->synchronize();
}

void Session::set_param(const std::string& name, double value) {
    State& s = *state_;
    auto& param = s.params[find_named(s.plan.params, name, "parameter", s.plan.name)];
    if (param == value) return;
    param = value;
    s.scalars_due = true;
}

double Session::param(const std::string& name) const {
    const auto& value = state_->params[find_named(state_->plan.params, name, "parameter", state_->plan.name)];
    if (!value)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("parameter '{}' has no default and was not given a value", name));
    return *value;
}

void Session::set_coef(const std::string& name, std::span<const double> values) {
    State& s = *state_;
    const int index = find_named(s.plan.coefs, name, "launch-time coefficient", s.plan.name);
    if (static_cast<std::int64_t>(values.size()) != element_count(s.plan.coefs[index]))
        throw Error(ErrorCode::bad_argument,
                    fmt::format("coefficient '{}' has {} weights, but {} were given", name,
                                element_count(s.plan.coefs[index]), values.size()));
    s.coefs[index].assign(values.begin(), values.end());
    s.send_coef(index);
}

void Session::set_table(const std::string& name, std::span<const double> values) {
    state_->set_table(find_named(state_->plan.tables, name, "table", state_->plan.name), values);
}

void Session::set_points(const std::string& points, std::span<const double> positions) {
    state_->set_points(find_named(state_->plan.points, points, "set of points", state_->plan.name),
                       positions);
}

void Session::set_point_values(const std::string& points, const std::string& name,
                               std::span<const double> values) {
    state_->set_point_values(find_named(state_->plan.points, points, "set of points", state_->plan.name),
                             name, values);
}

std::vector<double> Session::trace(const std::string& points, const std::string& name) {
    return state_->trace(find_named(state_->plan.points, points, "set of points", state_->plan.name), name);
}

void Session::step(std::int64_t count, bool with_results) {
    state_->step(count, with_results);
}

RunResult Session::run(const RunOptions& options) {
    if (options.check_every < 1 || options.batch < 0)
        throw Error(ErrorCode::bad_argument, "the steps between checks must be 1 or more");
    RunResult result;
    while (result.steps < options.steps) {
        std::int64_t target = options.steps;
        if (options.keep_going && options.batch > 0)
            target = std::min(target, (result.steps / options.batch + 1) * options.batch);
        if (options.until) {
            const auto watched = state_->step_until(
                target - result.steps, {*options.until, options.check_every, result.steps, options.steps});
            result.steps += watched.steps;
            if (watched.holds) result.stop = RunResult::Stop::until;
        } else {
            step(target - result.steps);
            result.steps = target;
        }
        const bool finished = result.steps == options.steps || result.stop == RunResult::Stop::until;
        if (options.keep_going && (finished || options.batch > 0)) {
            synchronize();
            if (!options.keep_going(result.steps) && !finished) result.stop = RunResult::Stop::asked;
        }
        if (result.stop != RunResult::Stop::steps) break;
    }
    synchronize();
    return result;
}

void Session::continue_from(const StepsBefore& before) {
    state_->continue_from(before);
}

double Session::reduction(const std::string& name) {
    return state_->reduce(find_named(state_->plan.reductions, name, "reduction", state_->plan.name));
}

PartialResults Session::partial_results(const std::string& name) {
    State& s = *state_;
    const int index = find_named(s.plan.reductions, name, "reduction", s.plan.name);
    if (s.steps_done == 0 && !s.reduced[static_cast<std::size_t>(index)])
        throw Error(ErrorCode::bad_argument, fmt::format("'{}' has no value before the first step", name));
    if (s.block_row >= 0 && s.place_in_block(index) >= 0)
        throw Error(
            ErrorCode::bad_argument,
            fmt::format("'{}' was found by a kernel that does several steps, and not in parts", name));
    return s.results_of(index, s.partials[static_cast<std::size_t>(index)].address(),
                        s.block_count(s.plan.reductions[index].kernel));
}

void Session::combine_with(std::function<double(const std::string& name)> combine) {
    state_->combine_reduction = std::move(combine);
}

bool Session::reads_reductions() const {
    const auto reads = [](const Argument& argument) {
        return argument.kind == Argument::Kind::scalar &&
               std::any_of(argument.scalar.steps.begin(), argument.scalar.steps.end(),
                           [](const HostScalar::Step& step) { return step.op == HostScalar::Op::reduction; });
    };
    return std::any_of(state_->plan.kernels.begin(), state_->plan.kernels.end(),
                       [&](const KernelPlan& kernel) {
                           return std::any_of(kernel.arguments.begin(), kernel.arguments.end(), reads);
                       });
}

PointGrid Session::point_grid() const {
    return state_->point_grid(state_->param_values());
}

double Session::evaluate(const HostScalar& scalar) const {
    return rt::evaluate(scalar, state_->param_values(), state_->geometry.extent,
                        static_cast<double>(state_->steps_done));
}

double Session::evaluate_with_reductions(const HostScalar& scalar) {
    State& s = *state_;
    std::vector<double> values = s.param_values();
    const std::vector<double> reductions = s.reduce_for(scalar);
    values.insert(values.end(), reductions.begin(), reductions.end());
    return rt::evaluate(scalar, values, state_->geometry.extent, static_cast<double>(s.steps_done));
}

}  // namespace halo::rt
