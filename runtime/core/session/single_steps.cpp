#include "runtime/core/session/single_steps.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "runtime/core/plan_check.h"
#include "runtime/core/plan_repeats.h"

namespace halo::rt::session {

namespace {

// Iterations that are launched before the host looks whether a condition holds: so many launches that looking
// costs nothing beside them, and no more blocks of threads, as those that do nothing take time to start.
constexpr std::int64_t kLaunchesAhead = 24, kBlocksAhead = 1 << 15;

// Of one iteration, but for what stands in the place of exchanges.
std::int64_t launches_of_iteration(const LaunchPlan& plan, int index) {
    const RepeatPlan& repeat = plan.repeats[static_cast<std::size_t>(index)];
    return sum_of_kernels(plan, repeat.first, repeat.past, static_cast<std::size_t>(index) + 1,
                          [](int) { return 1; }) -
           std::ssize(repeat.exchanges);
}

// Whether a condition ends one within it.
bool has_conditions_within(const LaunchPlan& plan, int repeat) {
    const auto first = plan.repeats.begin() + repeat + 1;
    const auto past = plan.repeats.begin() +
                      static_cast<std::ptrdiff_t>(next_repeat(plan, static_cast<std::size_t>(repeat)));
    return std::any_of(first, past, [](const RepeatPlan& each) { return each.until.has_value(); });
}

// The device's calls go to its side stream, after all work so far of the main one.
class OnSideStream {
public:
    explicit OnSideStream(Device& device) : device_(device) {
        device.use_stream(Device::StreamKind::side);
        device.wait_for_stream(Device::StreamKind::main);
    }
    ~OnSideStream() { device_.use_stream(Device::StreamKind::main); }
    OnSideStream(const OnSideStream&) = delete;
    OnSideStream& operator=(const OnSideStream&) = delete;

private:
    Device& device_;
};

bool is_sample(const KernelPlan& kernel) {
    return kernel.domain.kind == Domain::Kind::samples;
}

// Whether the kernel may change a field that it is given, or its halo.
bool may_write(const KernelPlan& kernel, int field) {
    const auto is_it = [&](const KernelPlan::Written& written) { return written.field == field; };
    return (kernel.fills_halo && is_it(*kernel.fills_halo)) ||
           std::ranges::any_of(kernel.refresh_halos, is_it) ||
           std::ranges::any_of(kernel.arguments, [&](const Argument& argument) {
               return argument.kind == Argument::Kind::field && argument.field == field &&
                      (!argument.use || argument.use->written);
           });
}

// Whether samples may be taken while the next step has begun: nothing that comes after them in their own
// step, and nothing of the next one, writes to a level that they read. Of a state with `history` past levels
// the next step writes to the oldest of this step's.
bool can_sample_beside(const LaunchPlan& plan) {
    for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
        if (!is_sample(plan.kernels[k])) continue;
        for (const Argument& argument : plan.kernels[k].arguments) {
            if (argument.kind != Argument::Kind::field) continue;
            const FieldPlan& field = plan.fields[static_cast<std::size_t>(argument.field)];
            if (field.role != Role::state || argument.time <= -field.history) return false;
            for (std::size_t later = k + 1; later < plan.kernels.size(); ++later)
                if (!is_sample(plan.kernels[later]) && may_write(plan.kernels[later], argument.field))
                    return false;
        }
    }
    const auto is_cut = [](const std::optional<WindowPlan>& along) { return along.has_value(); };
    return std::ranges::any_of(plan.kernels, is_sample) && std::ranges::none_of(plan.window, is_cut);
}

}  // namespace

SingleSteps::SingleSteps(Parts& parts)
    : parts_(parts),
      samples_beside_(can_sample_beside(parts.setup.plan)),
      launches_beside_(samples_beside_ &&
                       parts.setup.cell_count() >= parts.setup.options.least_cells_beside_samples) {}

// What it launches besides, Launches prepares.
void SingleSteps::prepare(const std::vector<double>& params) {
    iterations_.clear();
    if (repeat_block_ != nullptr) repeat_block_->prepare(params);
}

void SingleSteps::wait_for_samples() {
    if (!samples_pending_) return;
    parts_.setup.device->wait_for_stream(Device::StreamKind::side);
    samples_pending_ = false;
}

// Copies the latest level of an output with a past to the array of its next one before a step writes that, so
// that cells which the step leaves alone keep their value.
void SingleSteps::move_outputs(std::int64_t phase) {
    const std::vector<FieldPlan>& fields = parts_.setup.plan.fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const FieldPlan& field = fields[i];
        if (field.role == Role::state || field.history == 0 || field.component > 0) continue;
        const int index = static_cast<int>(i);
        const Level& next = parts_.arrays.level(index, 0, phase + 1);
        parts_.setup.device->copy_on_device(next.array, parts_.arrays.level(index, 0, phase).array,
                                            parts_.arrays.level_bytes(index));
    }
}

void SingleSteps::launch(std::int64_t number, std::int64_t phase, bool with_results, bool is_first) {
    Step step{number, phase, with_results, is_first, false, {}, false};
    if (parts_.launches.have_changing_scalars()) step.params = parts_.params.values();
    launch(step);
    samples_pending_ = samples_pending_ || step.has_samples;
}

void SingleSteps::launch_recorded(std::int64_t number, bool with_results) {
    Step step{number, number, with_results, false, true, {}, false};
    launch(step);
    samples_pending_ = samples_pending_ || step.has_samples;
}

std::unique_ptr<Recording> SingleSteps::record(std::int64_t count,
                                               const std::function<void(std::int64_t)>& step) {
    wait_for_samples();  // of steps before, which are not of the recording
    return session::record(*parts_.setup.device, count, [&](std::int64_t each) {
        step(each);
        if (each == count - 1) wait_for_samples();
    });
}

void SingleSteps::launch(Step& step) {
    const LaunchPlan& plan = parts_.setup.plan;
    move_outputs(step.phase);
    launch_all(step, 0, static_cast<int>(plan.kernels.size()), 0, nullptr);
}

void SingleSteps::launch_all(Step& step, int first, int past, std::size_t repeat,
                             const RepeatPlan* exchanged) {
    const LaunchPlan& plan = parts_.setup.plan;
    for (int k = first; k < past;) {
        if (repeat == plan.repeats.size() || k < plan.repeats[repeat].first) {
            launch(step, static_cast<std::size_t>(k++), exchanged != nullptr);
            continue;
        }
        launch_repeat(step, static_cast<int>(repeat));
        k = plan.repeats[repeat].past;
        repeat = next_repeat(plan, repeat);
    }
}

void SingleSteps::exchange_with(Exchange exchange, bool fills_halos) {
    exchange_ = std::move(exchange);
    fills_halos_ = fills_halos;
}

void SingleSteps::exchange_ghosts(const Step& step, const RepeatPlan& repeat, std::int64_t time) {
    const RepeatPlan* const exchanged = exchanged_in(repeat, time);
    std::vector<LevelArray> levels;
    for (const KernelPlan::Written& due : repeat.ghosts_due) {
        const FieldPlan& field = parts_.setup.plan.fields[static_cast<std::size_t>(due.field)];
        levels.push_back({parts_.launches.level_in_step(due, step.phase, exchanged).array,
                          size_of(field.type) * field.interleave, field.grid.factor});
    }
    exchange_(levels);
    for (const KernelPlan::Written& due : repeat.ghosts_due)
        if (fills_halos_) parts_.launches.fill_halos_in_step(due, step.phase, step.number, exchanged);
}

void SingleSteps::launch_iteration(Step& step, int index, std::int64_t time) {
    const RepeatPlan& repeat = parts_.setup.plan.repeats[static_cast<std::size_t>(index)];
    const std::size_t within = static_cast<std::size_t>(index) + 1;
    const RepeatPlan* const exchanged = exchanged_in(repeat, time);
    int first = repeat.first;  // what stands in the place of an exchange is left out
    for (const RepeatPlan::Exchange& each : repeat.exchanges) {
        launch_all(step, first, each.kernel, within, exchanged);
        first = each.kernel + 1;
    }
    launch_all(step, first, repeat.past, within, exchanged);
    if (exchange_ && !repeat.ghosts_due.empty()) exchange_ghosts(step, repeat, time + 1);
}

bool SingleSteps::can_replay_iterations(int index) const {
    const LaunchPlan& plan = parts_.setup.plan;
    const RepeatPlan& repeat = plan.repeats[static_cast<std::size_t>(index)];
    const std::int64_t launches = launches_of_iteration(plan, index);
    return parts_.setup.can_record() && !parts_.launches.change_with_step(repeat) &&
           !has_conditions_within(plan, index) && launches >= kLeastRecordedLaunches &&
           launches <= kMostRecordedLaunches;
}

void SingleSteps::replay_iteration(Step& step, int index, std::int64_t time) {
    const RepeatPlan& repeat = parts_.setup.plan.repeats[static_cast<std::size_t>(index)];
    const Iteration iteration{index, parts_.clock.in_cycle(step.phase), exchanged_in(repeat, time) != nullptr,
                              step.with_results && has_unread_steps(parts_.setup.plan), step.is_first};
    std::unique_ptr<Recording>& recording = iterations_[iteration];
    if (recording == nullptr)
        recording = session::record(*parts_.setup.device, 1,
                                    [&](std::int64_t) { launch_iteration(step, index, time); });
    parts_.setup.device->replay(*recording);
    for (auto k = static_cast<std::size_t>(repeat.first); std::cmp_less(k, repeat.past); ++k)
        if (parts_.setup.plan.kernels[k].runs(step.with_results, step.is_first)) note_partials(k);
}

// A repeat, or the host at a look, reads what a kernel of the step has just found.
void SingleSteps::note_partials(std::size_t kernel) {
    for (const Argument& argument : parts_.setup.plan.kernels[kernel].arguments)
        if (argument.kind == Argument::Kind::partials) parts_.reductions.found_within_step(argument.index);
}

void SingleSteps::launch_repeat(Step& step, int index) {
    const RepeatPlan& repeat = parts_.setup.plan.repeats[static_cast<std::size_t>(index)];
    if (repeat.until)
        return repeat.until->kernel < 0 ? iterate_by_host(step, index) : iterate_by_device(step, index);
    std::int64_t launched = 0, all = repeat.count;
    if (repeat_block_ != nullptr && repeat_block_->launches_of(index) > 0) {
        repeat_block_->launch_all(step.phase);
        launched = repeat_block_->launches_of(index);
        all = launched + repeat_block_->left_of(index);
    }
    for (; launched < all; ++launched)
        launch_iteration(step, index, launched);
    if (all % 2 == 1) copy_exchanged(step, repeat);
}

void SingleSteps::copy_exchanged(Step& step, const RepeatPlan& repeat) {
    for (const RepeatPlan::Exchange& each : repeat.exchanges)
        launch(step, static_cast<std::size_t>(each.kernel), false);
}

void SingleSteps::iterate_by_host(Step& step, int index) {
    const RepeatPlan& repeat = parts_.setup.plan.repeats[static_cast<std::size_t>(index)];
    const HostScalar& condition = repeat.until->condition;
    const std::vector<double> params = parts_.params.values();
    std::int64_t done = 0;
    for (bool holds = false; done < repeat.count && !holds;) {
        launch_iteration(step, index, done++);
        holds = rt::evaluate(condition, params, parts_.setup.geometry.extent,
                             static_cast<double>(step.number), parts_.reductions.latest(condition)) != 0;
        parts_.iterations.count(index, done, holds);
    }
    if (done % 2 == 1) copy_exchanged(step, repeat);
}

// Iterations are launched ahead of what the device says: those after the last one do nothing, so that results
// do not depend on when the host looks. Where a single one has many launches, an iteration that does nothing
// takes longer than a look: the host looks after each, from the last but one on that it had the last time, or
// sooner where its blocks are many.
void SingleSteps::iterate_by_device(Step& step, int index) {
    const LaunchPlan& plan = parts_.setup.plan;
    const RepeatPlan& repeat = plan.repeats[static_cast<std::size_t>(index)];
    const std::int64_t launches =
        sum_of_kernels(plan, repeat.first, repeat.past, static_cast<std::size_t>(index) + 1,
                       [&](int kernel) { return plan.kernels[static_cast<std::size_t>(kernel)].stands_for; });
    const std::int64_t blocks =
        1 + sum_of_kernels(plan, repeat.first, repeat.past, static_cast<std::size_t>(index) + 1,
                           [&](int kernel) { return parts_.kernels.block_count(kernel); });
    const bool is_long = launches > kLaunchesAhead || has_conditions_within(plan, index);
    const std::int64_t ahead =
        is_long ? 1 : std::max<std::int64_t>(1, std::min(kLaunchesAhead / launches, kBlocksAhead / blocks));
    const std::int64_t expected = std::min(parts_.iterations.last_count(index) - 1, kBlocksAhead / blocks);
    const bool replays = can_replay_iterations(index);
    const auto is_done = [&](std::int64_t launched) {
        if (!is_long) return parts_.iterations.is_done(index);
        return launched >= expected && parts_.iterations.is_done_now(index);
    };
    parts_.iterations.begin(index);
    for (std::int64_t time = 0; time < repeat.count;) {
        for (const std::int64_t past = std::min(repeat.count, time + ahead); time < past; ++time)
            replays ? replay_iteration(step, index, time) : launch_iteration(step, index, time);
        if (time < repeat.count && is_done(time)) break;
    }
    copy_exchanged(step, repeat);  // does so after an odd number of iterations
}

void SingleSteps::launch(Step& step, std::size_t k, bool exchanged) {
    const LaunchPlan& plan = parts_.setup.plan;
    Device& device = *parts_.setup.device;
    if (!plan.kernels[k].runs(step.with_results, step.is_first) ||
        !plan.kernels[k].within.contains(parts_.clock.steps_done) || !runs_in_step(plan, plan.kernels[k]))
        return;
    const int kernel = static_cast<int>(k);
    PreparedLaunch& launch = parts_.launches.at(kernel, step.phase, exchanged);
    const bool is_beside =
        (step.is_recorded ? samples_beside_ : launches_beside_) && is_sample(plan.kernels[k]);
    if (is_beside && !step.has_samples)
        wait_for_samples();  // of the step before: the next writes to what they read
    step.has_samples = step.has_samples || is_beside;
    if (!launch.changing.empty() && step.is_recorded)
        parts_.launches.update_recorded(launch, plan.kernels[k], step.number);
    else if (!launch.changing.empty())
        parts_.launches.update(launch, plan.kernels[k], step.number, step.params);
    {
        std::optional<OnSideStream> beside;
        if (is_beside) beside.emplace(device);
        if (parts_.kernels.block_count(kernel) > 0)  // a region may have no cell of this grid
            device.launch(parts_.kernels[kernel], parts_.kernels.blocks(kernel), launch.pointers.data());
    }
    if (parts_.launches.change_with_step() || parts_.iterations.has_any()) note_partials(k);
    for (const auto& refresh : launch.refresh)
        device.run_halo_passes(parts_.arrays.images(refresh.field),
                               plan.fields[static_cast<std::size_t>(refresh.field)].type, refresh.array);
}

std::int64_t SingleSteps::step(std::int64_t count, bool with_results) {
    launch(parts_.clock.steps_done, parts_.clock.phase(), with_results && count == 1);
    if (count == 1) wait_for_samples();
    parts_.clock.advance(1, 1);
    return 1;
}

void SingleSteps::step_first(bool with_results) {
    launch(parts_.clock.steps_done, parts_.clock.phase(), with_results, true);
    wait_for_samples();
    parts_.clock.advance(1, 1);
}

}  // namespace halo::rt::session
