// Stepping until a condition holds.
//
// Looking at reductions after every step makes the device wait for the host each time, which on small grids
// takes longer than the step. Where the device can, a recording of many steps keeps every step's reductions
// aside; the host looks at all of them at once, and where the condition held after an earlier one, the levels
// saved before go back and the steps up to there are done again. The result is the same as with a look after
// each.
#include <algorithm>
#include <cmath>

#include "runtime/core/session_state.h"

namespace halo::rt {

namespace {

// Above this a step takes long enough for a look after each, and the memory is better left free.
constexpr std::int64_t kMaxSnapshotBytes = std::int64_t{256} << 20;

}  // namespace

bool Session::State::holds(const HostScalar& until, std::vector<double> reduction_values,
                           std::int64_t steps) const {
    std::vector<double> values = param_values();
    values.insert(values.end(), reduction_values.begin(), reduction_values.end());
    return rt::evaluate(until, values, geometry.extent, static_cast<double>(steps)) != 0;
}

// At phase 0, the levels that the coming steps read before they write them, or write in part: t and the past
// of states, and outputs. All else is written anew, or never.
std::vector<Session::State::SavedLevel> Session::State::saved_levels() {
    std::vector<SavedLevel> levels;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const FieldPlan& field = plan.fields[i];
        if (field.component > 0) continue;  // in the array of the first component
        if (field.role != Role::state && field.role != Role::output && field.history == 0) continue;
        for (int time = 0; time >= -field.history; --time)
            levels.push_back({&level(static_cast<int>(i), time, 0), level_bytes(field)});
    }
    return levels;
}

bool Session::State::can_look_back(const HostScalar& until) {
    if (!options.record || !device->can_record() || !device->can_finish_reductions() ||
        plan.kernels.empty() || changing)
        return false;
    // Sums that are added up in another order might hold where the host's do not.
    for (std::size_t i = 0; i < plan.reductions.size(); ++i)
        if (reads_reduction(until, i) && plan.reductions[i].op == ReductionPlan::Op::sum) return false;
    return has_snapshot();
}

bool Session::State::has_snapshot() {
    if (!snapshot.empty()) return true;
    std::int64_t bytes = 0;
    for (const SavedLevel& saved : saved_levels())
        bytes += saved.bytes;
    const MemoryInfo memory = device->memory();
    if (bytes > kMaxSnapshotBytes || (memory.total_bytes > 0 && bytes > memory.free_bytes / 2)) return false;
    for (const SavedLevel& saved : saved_levels())
        snapshot.emplace_back(*device, saved.bytes);
    return !snapshot.empty();
}

void Session::State::save_levels() {
    const std::vector<SavedLevel> levels = saved_levels();
    snapshot_due.resize(levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i) {
        device->copy_on_device(snapshot[i].address(), levels[i].level->array, snapshot[i].bytes());
        snapshot_due[i] = levels[i].level->images_due;
    }
}

void Session::State::restore_levels() {
    const std::vector<SavedLevel> levels = saved_levels();
    for (std::size_t i = 0; i < levels.size(); ++i) {
        device->copy_on_device(levels[i].level->array, snapshot[i].address(), snapshot[i].bytes());
        levels[i].level->images_due = snapshot_due[i];
    }
}

// Each reduction that can be to its place of the results.
void Session::State::finish_reductions(std::int64_t step) {
    auto* results =
        static_cast<double*>(watched_results.address()) + step * static_cast<std::int64_t>(partials.size());
    for (std::size_t i = 0; i < partials.size(); ++i) {
        const ReductionPlan& reduction = plan.reductions[i];
        if (reduction.op != ReductionPlan::Op::sum)
            device->finish_reductions(reduction.op, partials[i].address(), block_count(reduction.kernel), 1,
                                      results + i);
    }
}

Session::State::Watched Session::State::step_until_recorded(const Watch& watch) {
    const std::size_t reductions = plan.reductions.size();
    const auto result_bytes = static_cast<std::int64_t>(8 * reductions) * recorded_steps;
    prepare();
    fill_due_halos();
    if (watched_results.address() == nullptr)
        watched_results = DeviceMemory(*device, std::max<std::int64_t>(result_bytes, 8));
    if (watched_recording == nullptr) {
        finish_reductions(0);  // see Device::begin_recording(); what it says now does not matter
        watched_recording = record(recorded_steps, [&](std::int64_t each) {
            run_step(each, each);
            finish_reductions(each);
        });
    }
    save_levels();
    block_row = -1;
    device->replay(*watched_recording);
    steps_done += recorded_steps;
    std::vector<double> results(reductions * static_cast<std::size_t>(recorded_steps));
    device->copy_to_host(results.data(), watched_results.address(), result_bytes);

    for (std::int64_t done = 1; done <= recorded_steps; ++done) {
        if (!watch.due(watch.steps_before + done)) continue;
        const auto first = results.begin() + static_cast<std::ptrdiff_t>(reductions) * (done - 1);
        std::vector<double> values(first, first + static_cast<std::ptrdiff_t>(reductions));
        for (std::size_t i = 0; i < reductions; ++i)
            if (plan.reductions[i].square_root) values[i] = std::sqrt(values[i]);
        if (!holds(watch.until, std::move(values), steps_done - recorded_steps + done)) continue;
        if (done < recorded_steps) {
            restore_levels();
            steps_done -= recorded_steps;
            step_singly(done);
        }
        return {done, true};
    }
    return {recorded_steps, false};
}

// The step at which it will hold is known before any is done.
Session::State::Watched Session::State::step_until_known(std::int64_t count, const Watch& watch) {
    const std::vector<double> none(plan.reductions.size());
    Watched result{count, false};
    for (std::int64_t done = 1; done <= count && !result.holds; ++done)
        if (watch.due(watch.steps_before + done) && holds(watch.until, none, steps_done + done))
            result = {done, true};
    step(result.steps);
    return result;
}

Session::State::Watched Session::State::step_until(std::int64_t count, Watch watch) {
    bool reads_any = false;
    for (std::size_t i = 0; i < plan.reductions.size(); ++i)
        reads_any = reads_any || reads_reduction(watch.until, i);
    if (!reads_any) return step_until_known(count, watch);
    prepare();
    look_for_late_block();
    const bool in_blocks = can_watch_blocks(watch.until);
    const bool look_back = !in_blocks && count >= recorded_steps && can_look_back(watch.until);
    Watched result;
    while (result.steps < count && !result.holds) {
        if (in_blocks) {
            const Watched part = watch_blocks(count - result.steps, watch);
            result.steps += part.steps;
            watch.steps_before += part.steps;
            result.holds = part.holds;
            if (part.steps > 0) continue;
        }
        if (look_back && modulo(phase(), cycle) == 0 && count - result.steps >= recorded_steps) {
            const Watched part = step_until_recorded(watch);
            result.steps += part.steps;
            watch.steps_before += part.steps;
            result.holds = part.holds;
            continue;
        }
        // To the next look, but with looking back no further than to where recorded steps may start.
        std::int64_t steps = 1;
        const std::int64_t most = count - result.steps;
        const bool to_start = look_back && most > recorded_steps;
        while (steps < most && !watch.due(watch.steps_before + steps) &&
               !(to_start && modulo(phase() + steps, cycle) == 0))
            ++steps;
        step(steps);
        result.steps += steps;
        watch.steps_before += steps;
        result.holds =
            watch.due(watch.steps_before) && holds(watch.until, reduce_for(watch.until), steps_done);
    }
    return result;
}

}  // namespace halo::rt
