#include "runtime/core/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/core/element.h"
#include "runtime/core/plan_repeats.h"
#include "runtime/core/session/names.h"
#include "runtime/core/session/state.h"
#include "runtime/core/text.h"

namespace halo::rt {

using session::find_named;

Session::Session(LaunchPlan plan, const Extent& extent, Device& device,
                 std::vector<std::unique_ptr<Module>> modules, const SessionOptions& options)
    : state_(std::make_unique<State>(std::move(plan), extent, device, std::move(modules), options)) {}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

const LaunchPlan& Session::plan() const {
    return state_->parts.setup.plan;
}
const Geometry& Session::geometry() const {
    return state_->parts.setup.geometry;
}
Device& Session::device() const {
    return *state_->parts.setup.device;
}
std::int64_t Session::cells() const {
    return state_->parts.setup.cell_count();
}
std::int64_t Session::array_bytes() const {
    return state_->parts.arrays.bytes();
}
void Session::expect_steps(std::int64_t at_a_time) {
    state_->recorded.expect(at_a_time);
}

int Session::steps_at_once() const {
    return state_->time_tiles.steps_at_once();
}

std::int64_t Session::whole_steps(std::int64_t steps) const {
    return state_->block == nullptr ? state_->time_tiles.whole_steps(steps)
                                    : state_->block->whole_steps(steps);
}

std::int64_t Session::steps_done() const {
    return state_->parts.clock.steps_done;
}
KernelInfo Session::kernel_info(int index) const {
    return state_->parts.kernels[index].info();
}
std::optional<KernelInfo> Session::time_block_info() const {
    if (state_->block != nullptr) return state_->block->kernel_info();
    const session::RepeatBlock* const of_repeat = state_->singles.repeat_block();
    return of_repeat == nullptr ? std::nullopt : std::optional(of_repeat->kernel_info());
}
void Session::synchronize() {
    state_->parts.setup.device->synchronize();
}

void Session::set_param(const std::string& name, double value) {
    session::Parts& parts = state_->parts;
    const int index = find_named(plan().params, name, "parameter", plan().name);
    if (parts.params[index] == value) return;
    parts.params.set(index, value);
    parts.due.scalars = true;
}

double Session::param(const std::string& name) const {
    const auto& value = state_->parts.params[find_named(plan().params, name, "parameter", plan().name)];
    if (!value)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("parameter '{}' has no default and was not given a value", name));
    return *value;
}

void Session::set_coef(const std::string& name, std::span<const double> values) {
    state_->parts.coefs.set(find_named(plan().coefs, name, "launch-time coefficient", plan().name), values);
}

void Session::set_table(const std::string& name, std::span<const double> values) {
    state_->parts.tables.set(find_named(plan().tables, name, "table", plan().name), values);
}

void Session::set_points(const std::string& points, std::span<const double> positions) {
    state_->parts.points.set(find_named(plan().points, points, "set of points", plan().name), positions);
}

void Session::set_point_values(const std::string& points, const std::string& name,
                               std::span<const double> values) {
    state_->parts.points.set_values(find_named(plan().points, points, "set of points", plan().name), name,
                                    values);
}

std::vector<double> Session::trace(const std::string& points, const std::string& name) {
    return state_->parts.points.trace(find_named(plan().points, points, "set of points", plan().name), name);
}

std::int64_t Session::steps_to_full(std::int64_t count) const {
    return session::to_full_step(state_->parts, count).count;
}

void Session::step(std::int64_t count, bool with_results) {
    state_->begin_steps();
    state_->step(count, with_results);
}

RunResult Session::run(const RunOptions& options) {
    if (options.check_every < 1 || options.batch < 0)
        throw Error(ErrorCode::bad_argument, "the steps between checks must be 1 or more");
    RunResult result;
    if (options.until) state_->parts.kept.make_way_to_all(true);
    state_->begin_steps();
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
            state_->step(target - result.steps, true);
            result.steps = target;
        }
        const bool finished = result.steps == options.steps || result.stop == RunResult::Stop::until;
        if (options.keep_going && (finished || options.batch > 0)) {
            synchronize();
            state_->begin_steps();  // the caller may change what it likes
            if (!options.keep_going(result.steps) && !finished) result.stop = RunResult::Stop::asked;
        }
        if (result.stop != RunResult::Stop::steps) break;
    }
    if (options.meanwhile) options.meanwhile();
    synchronize();
    return result;
}

void Session::continue_from(const StepsBefore& before) {
    state_->continue_from(before);
}

double Session::reduction(const std::string& name) {
    return state_->parts.reductions.value(find_named(plan().reductions, name, "reduction", plan().name));
}

void Session::start_again() {
    state_->go_back_to(0);
    state_->parts.kept.make_way_to_all(false);
    state_->parts.arrays.clear_written();
}

void Session::go_back_to(std::int64_t step) {
    state_->go_back_to(step);
}

void Session::note_reduction(const std::string& name) {
    state_->parts.reductions.note(find_named(plan().reductions, name, "reduction", plan().name));
}

std::vector<double> Session::noted_reductions(const std::string& name) {
    return state_->parts.reductions.noted(find_named(plan().reductions, name, "reduction", plan().name));
}

PartialResults Session::partial_results(const std::string& name) {
    return state_->parts.reductions.parts(find_named(plan().reductions, name, "reduction", plan().name));
}

void Session::combine_with(std::function<double(const std::string& name)> combine) {
    state_->parts.reductions.combine_with(std::move(combine));
}

void Session::exchange_with(std::function<void(const std::vector<LevelArray>& levels)> exchange,
                            bool fills_halos) {
    state_->singles.exchange_with(std::move(exchange), fills_halos);
}

std::vector<RepeatCounts> Session::repeat_counts() const {
    return state_->parts.iterations.counts();
}

bool Session::reads_reductions() const {
    const auto reads = [](const HostScalar& scalar) {
        return std::ranges::any_of(
            scalar.steps, [](const HostScalar::Step& step) { return step.op == HostScalar::Op::reduction; });
    };
    const auto ends_by_one = [&](const RepeatPlan& repeat) {
        return repeat.until && repeat.until->kernel < 0 && reads(repeat.until->condition);
    };
    return std::ranges::any_of(plan().repeats, ends_by_one) ||
           std::ranges::any_of(plan().kernels, [&](const KernelPlan& kernel) {
               return std::ranges::any_of(kernel.arguments, [&](const Argument& argument) {
                   return argument.kind == Argument::Kind::scalar && reads(argument.scalar);
               });
           });
}

bool Session::exchanges_in_step() const {
    return rt::exchanges_in_step(plan());
}

PointGrid Session::point_grid() const {
    return state_->parts.points.grid(state_->parts.params.values());
}

double Session::evaluate(const HostScalar& scalar) const {
    const session::Parts& parts = state_->parts;
    return rt::evaluate(scalar, parts.params.values(), parts.setup.geometry.extent,
                        static_cast<double>(parts.clock.steps_done));
}

double Session::evaluate_with_reductions(const HostScalar& scalar) {
    const session::Parts& parts = state_->parts;
    std::vector<double> values = parts.params.values();
    const std::vector<double> reductions = parts.reductions.values_for(scalar);
    values.insert(values.end(), reductions.begin(), reductions.end());
    return rt::evaluate(scalar, values, parts.setup.geometry.extent,
                        static_cast<double>(parts.clock.steps_done));
}

// ---- pieces of a grid

bool Session::gives_planes() const {
    return state_->pieces() != nullptr;
}

bool Session::stores_ghosts() const {
    return gives_planes() && state_->pieces()->stores_ghosts();
}

void Session::set_neighbour(int side, Session& other, const GhostPlanes& given) {
    state_->pieces()->set_neighbour(side, other.state_->parts, given);
}

void Session::launch_planes(const PlaneRange& planes, bool to_neighbours) {
    state_->prepare();
    state_->pieces()->launch_planes(state_->parts.clock.phase(), planes, to_neighbours);
}

void Session::finish_block() {
    state_->pieces()->finish();
}

const AsyncBlock& Session::async_block() const {
    return state_->async_block;
}

}  // namespace halo::rt
