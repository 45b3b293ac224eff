#include "runtime/core/session/block_steps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/core/plan_check.h"

namespace halo::rt::session {

namespace {

constexpr std::int64_t kRecordedBlocks = 16;

}  // namespace

std::unique_ptr<BlockStepper> make_block_stepper(Parts& parts, Snapshot& snapshot) {
    const LaunchPlan& plan = parts.setup.plan;
    if (!plan.time_block || plan.time_block->of_repeat() != nullptr) return nullptr;
    if (!works_on(*plan.time_block, parts.setup.geometry)) return nullptr;
    Kernel& kernel = parts.kernels.find(plan.time_block->kernel, true);
    if (plan.time_block->resident() != nullptr) return ResidentSteps::make(parts, kernel);
    if (plan.time_block->of_pieces() != nullptr) return std::make_unique<PieceSteps>(parts, kernel, snapshot);
    return std::make_unique<TemporalSteps>(parts, kernel, snapshot);
}

void BlockStepper::prepare(const std::vector<double>& params) {
    params_ = params;
    launches_.clear();
    for (std::int64_t phase = 0; phase < parts_.clock.cycle; ++phase) {
        launches_.push_back(parts_.launches.prepare(block().kernel, phase, params));
        give_arguments(launches_.back(), phase);
    }
}

PreparedLaunch& BlockStepper::launch_at(std::int64_t phase) {
    PreparedLaunch& launch = launches_[parts_.clock.in_cycle(phase)];
    parts_.launches.update(launch, block().kernel, parts_.clock.steps_done, params_);
    return launch;
}

bool BlockStepper::changes_with_step() const {
    return std::ranges::any_of(launches_, [](const PreparedLaunch& each) { return !each.changing.empty(); });
}

TemporalSteps::TemporalSteps(Parts& parts, Kernel& kernel, Snapshot& snapshot)
    : BlockStepper(parts, kernel), snapshot_(snapshot) {
    for (const KernelPlan& each : block().earlier)
        earlier_.push_back({&each, &parts.kernels.find(each, true), {}});
    const std::int64_t levels = block().levels;
    length_ = std::lcm(parts.clock.cycle, levels) / levels;
    length_ *= std::max<std::int64_t>(1, kRecordedBlocks / length_);
    const std::int64_t blocks = parts.setup.can_record() ? length_ : 1;
    for (std::size_t i = 0; i < block().reductions.size(); ++i)
        partials_.emplace_back(*parts.setup.device, 8 * blocks * block().steps * block().kernel.blocks);
}

void TemporalSteps::prepare(const std::vector<double>& params) {
    recording_.reset();
    watched_.reset();
    BlockStepper::prepare(params);
    for (Earlier& each : earlier_) {
        each.launches.clear();
        for (std::int64_t phase = 0; phase < parts_.clock.cycle; ++phase)
            each.launches.push_back(parts_.launches.prepare(*each.plan, phase, params));
    }
}

void TemporalSteps::launch_earlier(std::int64_t phase) {
    for (Earlier& each : earlier_) {
        PreparedLaunch& launch = each.launches[parts_.clock.in_cycle(phase)];
        parts_.launches.update(launch, *each.plan, parts_.clock.steps_done, params_);
        parts_.setup.device->launch(*each.kernel, {each.plan->blocks, 1, 1}, launch.pointers.data());
    }
}

void TemporalSteps::launch(std::int64_t phase, std::int64_t number) {
    launch_earlier(phase);
    const KernelPlan& kernel = block().kernel;
    PreparedLaunch& launch = launch_at(phase);
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
        if (kernel.arguments[i].kind != Argument::Kind::step_partials) continue;
        const auto place = static_cast<std::size_t>(place_of(kernel.arguments[i].index));
        launch.values[i].address =
            static_cast<double*>(partials_[place].address()) + number * block().steps * kernel.blocks;
    }
    parts_.setup.device->launch(kernel_, {kernel.blocks, 1, 1}, launch.pointers.data());
}

bool TemporalSteps::can_record() const {
    const bool changes = std::ranges::any_of(
        earlier_, [](const Earlier& each) { return !each.launches.front().changing.empty(); });
    return parts_.setup.can_record() && !changes && !changes_with_step();
}

void TemporalSteps::count(std::int64_t blocks) {
    parts_.clock.advance(blocks * block().steps, blocks * block().levels);
    parts_.arrays.mark_states_written();
}

std::int64_t TemporalSteps::step(std::int64_t count, bool with_results) {
    const std::int64_t steps = block().steps;
    const std::int64_t most = count - steps_left(with_results);
    std::int64_t done = 0;
    while (done + steps <= most) {
        const bool many = done + length_ * steps <= most;
        std::int64_t blocks = 1;
        if (can_record() && many && parts_.clock.at_cycle_start() && ran_) {
            blocks = length_;
            if (recording_ == nullptr)
                recording_ = record(*parts_.setup.device, length_,
                                    [&](std::int64_t each) { launch(each * block().levels, 0); });
            parts_.setup.device->replay(*recording_);
        } else {
            launch(parts_.clock.phase(), 0);
            ran_ = true;
        }
        parts_.clock.advance(blocks * steps, blocks * block().levels);
        done += blocks * steps;
    }
    if (done == 0) return 0;
    note_reductions(steps - 1);
    parts_.arrays.mark_states_written();
    return done;
}

std::int64_t TemporalSteps::whole_steps(std::int64_t steps) const {
    const std::int64_t at_once = block().steps;
    return steps < at_once ? steps : steps / at_once * at_once + steps_left(true);
}

int TemporalSteps::place_of(int reduction) const {
    const std::vector<int>& given = block().reductions;
    const auto place = std::ranges::find(given, reduction);
    return place == given.end() ? -1 : static_cast<int>(place - given.begin());
}

void TemporalSteps::note_reductions(std::int64_t step) {
    for (std::size_t place = 0; place < partials_.size(); ++place)
        parts_.reductions.found_by_block(
            block().reductions[place],
            static_cast<const double*>(partials_[place].address()) + step * block().kernel.blocks,
            block().kernel.blocks);
}

// ---- until a condition holds

bool TemporalSteps::can_watch(const HostScalar& until) const {
    for (std::size_t i = 0; i < parts_.reductions.size(); ++i)
        if (parts_.reductions.is_read_by(until, i) && place_of(static_cast<int>(i)) < 0) return false;
    return true;
}

void TemporalSteps::finish_reductions(std::int64_t blocks) {
    const std::int64_t steps = blocks * block().steps;
    auto* results = static_cast<double*>(results_.address());
    for (std::size_t place = 0; place < partials_.size(); ++place) {
        const auto reduction = static_cast<std::size_t>(block().reductions[place]);
        parts_.setup.device->finish_reductions(parts_.setup.plan.reductions[reduction].op,
                                               partials_[place].address(), block().kernel.blocks, steps,
                                               results + static_cast<std::int64_t>(place) * steps);
    }
}

// Combines the partial results of launches that lie one after the other in memory, on the device where it
// can.
std::vector<std::vector<double>> TemporalSteps::values_of(std::int64_t blocks) const {
    const auto steps = static_cast<std::size_t>(blocks * block().steps);
    Device& device = *parts_.setup.device;
    std::vector<double> results(partials_.size() * steps);
    const bool on_device = device.can_finish_reductions();
    if (on_device)
        device.copy_to_host(results.data(), results_.address(),
                            static_cast<std::int64_t>(8 * results.size()));
    std::vector<std::vector<double>> values(steps, std::vector<double>(parts_.reductions.size()));
    for (std::size_t place = 0; place < partials_.size(); ++place) {
        const int reduction = block().reductions[place];
        const auto index = static_cast<std::size_t>(reduction);
        const std::int64_t count = block().kernel.blocks;
        const auto* of_steps = static_cast<const double*>(partials_[place].address());
        for (std::size_t step = 0; step < steps; ++step) {
            double& value = values[step][index];
            if (!on_device) {
                const double* of_step = of_steps + static_cast<std::int64_t>(step) * count;
                value = parts_.reductions.fetch(reduction, of_step, count).combined();
                continue;
            }
            value = results[place * steps + step];
            if (parts_.setup.plan.reductions[index].square_root) value = std::sqrt(value);
        }
    }
    return values;
}

// Does one block, or as many as are recorded, with their reductions combined where the device can; `most`
// steps at most. Returns how many blocks. saved: the levels before them are in the snapshot.
std::int64_t TemporalSteps::watched_blocks(std::int64_t most, bool& saved) {
    Device& device = *parts_.setup.device;
    const bool on_device = device.can_finish_reductions();
    saved = can_record() && on_device && finished_ && most >= length_ * block().steps &&
            parts_.clock.at_cycle_start() && snapshot_.has_room();
    if (on_device && results_.address() == nullptr)
        results_ = DeviceMemory(
            device, 8 * length_ * block().steps * static_cast<std::int64_t>(block().reductions.size()));
    const std::int64_t blocks = saved ? length_ : 1;
    if (saved) {
        if (watched_ == nullptr)
            watched_ = record(device, blocks, [&](std::int64_t each) {
                launch(each * block().levels, each);
                if (each == blocks - 1) finish_reductions(blocks);
            });
        snapshot_.save();
        device.replay(*watched_);
    } else {
        launch(parts_.clock.phase(), 0);
        if (on_device) finish_reductions(blocks);
        ran_ = finished_ = true;
    }
    count(blocks);
    note_reductions(blocks * block().steps - 1);
    return blocks;
}

// Does blocks until the condition holds. A block writes other levels than it reads, so undoing one is free:
// the clock goes back.
Watched TemporalSteps::watch(std::int64_t count, const Watch& watch, const StepAgain& again) {
    const std::int64_t most = count - steps_left(true);
    if (most < block().steps) return {};
    const Clock before = parts_.clock;
    bool saved = false;
    const std::int64_t blocks = watched_blocks(most, saved), steps = blocks * block().steps;
    std::int64_t first = 1;
    while (first <= steps && !watch.due(watch.steps_before + first))
        ++first;
    if (first > steps) return {steps, false};  // nothing to wait for
    const std::vector<std::vector<double>> values = values_of(blocks);
    for (std::int64_t done = first; done <= steps; ++done) {
        if (!watch.due(watch.steps_before + done)) continue;
        if (!holds(parts_, watch.until, values[static_cast<std::size_t>(done - 1)], before.steps_done + done))
            continue;
        if (done == steps && block().is_whole) return {done, true};
        parts_.clock = before;
        if (saved) snapshot_.restore();
        again(done);
        return {done, true};
    }
    return {steps, false};
}

}  // namespace halo::rt::session
