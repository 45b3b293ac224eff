// Stepping until a condition holds, several steps at a time.
//
// A time block gives the reductions of each of its steps (TimeBlock::reductions). Once it is done the host
// looks at all of them; where the condition held after an earlier step, the block is undone and the steps up
// to there are done again. A block writes other levels than it reads, so undoing one is free. Where looking
// takes long beside a block, as on small grids, many are recorded with their reductions combined on the
// device, and the levels before them are kept in a snapshot.
#include <cmath>

#include "runtime/core/session_state.h"

namespace halo::rt {

bool Session::State::can_watch_blocks(const HostScalar& until) const {
    if (block_kernel == nullptr || plan.time_block->resident() != nullptr) return false;
    for (std::size_t i = 0; i < plan.reductions.size(); ++i)
        if (reads_reduction(until, i) && place_in_block(static_cast<int>(i)) < 0) return false;
    return true;
}

void Session::State::finish_block_reductions(std::int64_t rounds) {
    const TimeBlock& block = *plan.time_block;
    const std::int64_t steps = rounds * block.steps;
    auto* results = static_cast<double*>(block_results.address());
    for (std::size_t place = 0; place < block.reductions.size(); ++place)
        device->finish_reductions(plan.reductions[static_cast<std::size_t>(block.reductions[place])].op,
                                  block_partials[place].address(), block.kernel.blocks, steps,
                                  results + static_cast<std::int64_t>(place) * steps);
}

// Of launches whose partial results lie one after the other; combined by the device where it can.
std::vector<std::vector<double>> Session::State::block_values(std::int64_t rounds) {
    const TimeBlock& block = *plan.time_block;
    const auto steps = static_cast<std::size_t>(rounds * block.steps);
    std::vector<double> results(block.reductions.size() * steps);
    const bool on_device = device->can_finish_reductions();
    if (on_device)
        device->copy_to_host(results.data(), block_results.address(),
                             static_cast<std::int64_t>(8 * results.size()));
    std::vector<std::vector<double>> values(steps, std::vector<double>(plan.reductions.size()));
    for (std::size_t place = 0; place < block.reductions.size(); ++place) {
        const int reduction = block.reductions[place];
        const auto* of_steps = static_cast<const double*>(block_partials[place].address());
        for (std::size_t step = 0; step < steps; ++step) {
            double& value = values[step][static_cast<std::size_t>(reduction)];
            if (!on_device) {
                value =
                    results_of(reduction, of_steps + static_cast<std::int64_t>(step) * block.kernel.blocks,
                               block.kernel.blocks)
                        .combined();
                continue;
            }
            value = results[place * steps + step];
            if (plan.reductions[static_cast<std::size_t>(reduction)].square_root) value = std::sqrt(value);
        }
    }
    return values;
}

// One block, or as many as are recorded, with their reductions combined where the device can.
std::int64_t Session::State::do_watched_blocks(std::int64_t most, bool& saved) {
    const TimeBlock& block = *plan.time_block;
    const bool on_device = device->can_finish_reductions();
    saved = options.record && device->can_record() && on_device && block_watched &&
            most >= recorded_blocks * block.steps && modulo(phase(), cycle) == 0 && has_snapshot();
    if (on_device && block_results.address() == nullptr)
        block_results = DeviceMemory(
            *device, 8 * recorded_blocks * block.steps * static_cast<std::int64_t>(block.reductions.size()));
    const std::int64_t rounds = saved ? recorded_blocks : 1;
    if (saved) {
        if (watched_block_recording == nullptr)
            watched_block_recording = record(rounds, [&](std::int64_t each) {
                launch_block(each * block.levels, each);
                if (each == rounds - 1) finish_block_reductions(rounds);
            });
        save_levels();
        device->replay(*watched_block_recording);
    } else {
        launch_block(phase());
        if (on_device) finish_block_reductions(rounds);
        block_ran = block_watched = true;
    }
    count_blocks(rounds);
    block_row = rounds * block.steps - 1;
    leave_images_due();
    return rounds;
}

Session::State::Watched Session::State::watch_blocks(std::int64_t count, const Watch& watch) {
    const TimeBlock& block = *plan.time_block;
    prepare();
    const std::int64_t most = count - (block.is_whole ? 0 : 1);
    if (most < block.steps) return {};
    const std::int64_t steps_before = steps_done, shift_before = phase_shift;
    bool saved = false;
    const std::int64_t rounds = do_watched_blocks(most, saved), steps = rounds * block.steps;
    std::int64_t first = 1;
    while (first <= steps && !watch.due(watch.steps_before + first))
        ++first;
    if (first > steps) return {steps, false};  // nothing to wait for
    const std::vector<std::vector<double>> values = block_values(rounds);
    for (std::int64_t done = first; done <= steps; ++done) {
        if (!watch.due(watch.steps_before + done)) continue;
        if (!holds(watch.until, values[static_cast<std::size_t>(done - 1)], steps_before + done)) continue;
        if (done == steps && block.is_whole) return {done, true};
        steps_done = steps_before;
        phase_shift = shift_before;
        if (saved) restore_levels();
        step(done);
        return {done, true};
    }
    return {steps, false};
}

}  // namespace halo::rt
