// Stepping until a condition holds, by whichever stepper can keep what the condition reads (watch.h).
#include "runtime/core/plan_check.h"
#include "runtime/core/session/state.h"

namespace halo::rt {

using session::Watch;
using session::Watched;

// Steps until a condition holds of which the step is known before any is done.
Watched Session::State::step_until_known(std::int64_t count, const Watch& watch) {
    const std::vector<double> none(parts.reductions.size());
    Watched result{count, false};
    for (std::int64_t done = 1; done <= count && !result.holds; ++done)
        if (watch.due(watch.steps_before + done) &&
            session::holds(parts, watch.until, none, parts.clock.steps_done + done))
            result = {done, true};
    step(result.steps);
    return result;
}

Watched Session::State::step_until(std::int64_t count, Watch watch) {
    bool reads_any = false;
    for (std::size_t i = 0; i < parts.reductions.size(); ++i)
        reads_any = reads_any || parts.reductions.is_read_by(watch.until, i);
    if (!reads_any) return step_until_known(count, watch);
    prepare();
    take_async_block();
    // What watches several steps at once does them without results.
    const bool are_alike = parts.setup.plan.full_steps.empty() &&
                           steps_of_same_kernels(parts.setup.plan, parts.clock.steps_done).is_all();
    const bool in_blocks = are_alike && block != nullptr && block->can_watch(watch.until);
    // Where checks are far apart, most steps between them run without results, as no watched step does.
    const bool are_far = watch.check_every >= recorded.length() && has_unread_steps(parts.setup.plan);
    const bool in_recordings =
        are_alike && !in_blocks && !are_far && count >= recorded.length() && recorded.can_watch(watch.until);
    Watched result;
    const auto add = [&](const Watched& some) {
        result.steps += some.steps;
        watch.steps_before += some.steps;
        result.holds = some.holds;
    };
    while (result.steps < count && !result.holds) {
        const std::int64_t most = count - result.steps;
        prepare();
        if (in_blocks) {
            const Watched some = block->watch(most, watch, [this](std::int64_t again) { step(again); });
            add(some);
            if (some.steps > 0) continue;
        }
        if (in_recordings && !is_first && parts.clock.at_cycle_start() && most >= recorded.length()) {
            fill_due_halos();
            add(recorded.watch(watch, [this](std::int64_t again) { step_without_block(again); }));
            continue;
        }
        // Steps to the next check, but with recordings no further than to where one may start.
        std::int64_t steps = 1;
        const bool to_start = in_recordings && most > recorded.length();
        while (steps < most && !watch.due(watch.steps_before + steps) &&
               !(to_start && parts.clock.in_cycle(parts.clock.phase() + steps) == 0))
            ++steps;
        step(steps);
        add({steps, false});
        result.holds = watch.due(watch.steps_before) &&
                       session::holds(parts, watch.until, parts.reductions.values_for(watch.until),
                                      parts.clock.steps_done);
    }
    return result;
}

}  // namespace halo::rt
