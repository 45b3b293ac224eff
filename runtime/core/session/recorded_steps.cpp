#include "runtime/core/session/recorded_steps.h"

#include <algorithm>
#include <cmath>

#include "runtime/core/plan_check.h"
#include "runtime/core/plan_repeats.h"

namespace halo::rt::session {

namespace {

// Enough that starting a recording costs nothing against running it.
constexpr std::int64_t kRecordedLaunches = 64;

// The number of launches of a step without results, as most steps are.
std::int64_t launches_of_step(const LaunchPlan& plan, std::int64_t step) {
    return sum_of_kernels(plan, 0, static_cast<int>(plan.kernels.size()), 0, [&](int index) {
        const KernelPlan& kernel = plan.kernels[static_cast<std::size_t>(index)];
        return kernel.runs(false) && kernel.within.contains(step) ? 1 : 0;
    });
}

// Whether recordings of whole cycles of steps are of no more launches than memory is spent on. How many
// iterations a condition asks for is not known when a step is recorded, and exchanges within it are others'.
bool has_room_to_record(const LaunchPlan& plan, const Clock& clock) {
    return !exchanges_in_step(plan) && std::ranges::none_of(plan.repeats, [](const RepeatPlan& each) {
        return each.until.has_value();
    }) && launches_of_step(plan, clock.steps_done) * clock.cycle <= kMostRecordedLaunches;
}

}  // namespace

RecordedSteps::RecordedSteps(Parts& parts, SingleSteps& singles, Snapshot& snapshot)
    : parts_(parts), singles_(singles), snapshot_(snapshot) {
    choose_length();
}

void RecordedSteps::choose_length() {
    const std::int64_t cycle = parts_.clock.cycle;
    const std::int64_t launches_per_cycle =
        launches_of_step(parts_.setup.plan, parts_.clock.steps_done) * cycle;
    length_ =
        cycle * std::max<std::int64_t>(1, kRecordedLaunches / std::max<std::int64_t>(launches_per_cycle, 1));
    same_kernels_ = steps_of_same_kernels(parts_.setup.plan, parts_.clock.steps_done);
}

// Recordings are of the kernels that run now.
void RecordedSteps::follow_kernels() {
    if (same_kernels_.contains(parts_.clock.steps_done)) return;
    forget();
    choose_length();
    if (at_a_time_ > 0) expect(at_a_time_);
}

void RecordedSteps::prepare(const std::vector<double>& /*params*/) {
    forget();
}

void RecordedSteps::forget() {
    recording_.reset();
    last_.reset();
    watched_.reset();
}

void RecordedSteps::expect(std::int64_t at_a_time) {
    at_a_time_ = at_a_time;
    // The steps may begin anywhere in a cycle, so some may have to be done singly until the next phase 0.
    const std::int64_t cycle = parts_.clock.cycle, usable = at_a_time - (cycle - 1);
    if (usable * launches_of_step(parts_.setup.plan, parts_.clock.steps_done) < kLeastRecordedLaunches)
        return;
    const std::int64_t recordings = (usable + length_ - 1) / length_;
    const std::int64_t steps = usable / recordings / cycle * cycle;
    if (steps == 0 || steps == length_) return;
    length_ = steps;
    forget();
}

std::int64_t RecordedSteps::step(std::int64_t count, bool with_results) {
    follow_kernels();
    if (!can_replay() || launches_of_step(parts_.setup.plan, parts_.clock.steps_done) == 0 ||
        count < length_ || !parts_.clock.at_cycle_start())
        return 0;
    const bool has_unread = has_unread_steps(parts_.setup.plan);
    const bool is_last = with_results && count == length_ && has_unread;
    if (is_last && parts_.launches.have_changing_scalars()) return 0;
    std::unique_ptr<Recording>& recording = is_last ? last_ : recording_;
    if (recording == nullptr) {
        parts_.points.make_rows(length_);
        recording = singles_.record(length_, [&](std::int64_t each) {
            singles_.launch_recorded(each, is_last && each == length_ - 1);
        });
    }
    replay(*recording);
    return length_;
}

bool RecordedSteps::can_replay() const {
    return parts_.setup.can_record() && has_room_to_record(parts_.setup.plan, parts_.clock) &&
           !parts_.launches.have_changing_scalars_unread() && parts_.points.can_stage(length_);
}

void RecordedSteps::replay(Recording& recording) {
    singles_.wait_for_samples();  // of steps before that were taken beside others
    parts_.points.load_rows(parts_.clock.steps_done, length_);
    parts_.setup.device->replay(recording);
    parts_.points.store_rows(parts_.clock.steps_done, length_);
    parts_.clock.advance(length_, length_);
}

bool RecordedSteps::can_watch(const HostScalar& until) {
    const LaunchPlan& plan = parts_.setup.plan;
    if (!can_replay() || parts_.launches.have_changing_scalars() ||
        !parts_.setup.device->can_finish_reductions() || plan.kernels.empty())
        return false;
    // Refuses conditions on sums that the device adds up in another order: they might hold where the host's
    // do not.
    for (std::size_t i = 0; i < plan.reductions.size(); ++i)
        if (parts_.reductions.is_read_by(until, i) && plan.reductions[i].op == ReductionPlan::Op::sum)
            return false;
    return snapshot_.has_room();
}

Watched RecordedSteps::watch(const Watch& watch, const StepAgain& again) {
    Device& device = *parts_.setup.device;
    const std::vector<ReductionPlan>& reductions = parts_.setup.plan.reductions;
    const auto width = static_cast<std::ptrdiff_t>(reductions.size());
    const auto result_bytes = std::int64_t{8 * width} * length_;
    if (results_.bytes() < result_bytes || results_.address() == nullptr)
        results_ = DeviceMemory(device, std::max<std::int64_t>(result_bytes, 8));
    // Where the condition reads what is found in any case, the last step alone may be one whose results are
    // read.
    std::vector<bool> read(reductions.size());
    bool with_results = false;
    for (std::size_t i = 0; i < reductions.size(); ++i) {
        read[i] = parts_.reductions.is_read_by(watch.until, i);
        with_results =
            with_results || (read[i] && !is_found_without_results(parts_.setup.plan, static_cast<int>(i)));
    }
    const auto finish = [&](std::int64_t step) {
        parts_.reductions.finish(read, static_cast<double*>(results_.address()) + step * width);
    };
    if (watched_ == nullptr || read != watched_reductions_) {
        finish(0);  // see Device::begin_recording(); the result is not used
        watched_reductions_ = read;
        parts_.points.make_rows(length_);
        watched_ = singles_.record(length_, [&](std::int64_t each) {
            singles_.launch_recorded(each, with_results || each == length_ - 1);
            finish(each);
        });
    }
    snapshot_.save();
    parts_.reductions.found_by_steps();
    replay(*watched_);
    std::vector<double> results(static_cast<std::size_t>(width * length_));
    device.copy_to_host(results.data(), results_.address(), result_bytes);

    for (std::int64_t done = 1; done <= length_; ++done) {
        if (!watch.due(watch.steps_before + done)) continue;
        const auto first = results.begin() + width * (done - 1);
        std::vector<double> values(first, first + width);
        for (std::size_t i = 0; i < reductions.size(); ++i)
            if (reductions[i].square_root) values[i] = std::sqrt(values[i]);
        if (!holds(parts_, watch.until, values, parts_.clock.steps_done - length_ + done)) continue;
        if (done < length_) {
            snapshot_.restore();
            parts_.clock.steps_done -= length_;
            again(done);
        }
        return {done, true};
    }
    return {length_, false};
}

}  // namespace halo::rt::session
