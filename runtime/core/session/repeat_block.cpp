#include "runtime/core/session/repeat_block.h"

#include <utility>

#include "runtime/core/plan_check.h"
#include "runtime/core/plan_repeats.h"

namespace halo::rt::session {

std::unique_ptr<RepeatBlock> RepeatBlock::make(Parts& parts) {
    const LaunchPlan& plan = parts.setup.plan;
    if (!plan.time_block || plan.time_block->of_repeat() == nullptr) return nullptr;
    if (!works_on(*plan.time_block, parts.setup.geometry)) return nullptr;
    Kernel& kernel = parts.kernels.find(plan.time_block->kernel, true);
    return std::unique_ptr<RepeatBlock>(new RepeatBlock(parts, kernel, plan.time_block->of_repeat()->repeat));
}

RepeatBlock::RepeatBlock(Parts& parts, Kernel& kernel, int index)
    : parts_(parts), kernel_(kernel), repeat_(index) {
    // What a recording holds has run before; nothing is read of these levels.
    for (const RepeatPlan::Exchange& each : repeat().exchanges)
        if (!parts_.arrays.images(each.other).empty())
            parts_.setup.device->run_halo_passes(
                parts_.arrays.images(each.other),
                parts_.setup.plan.fields[static_cast<std::size_t>(each.other)].type,
                parts_.arrays.level_in_step(each.other, 0, 0).array);
}

void RepeatBlock::prepare(const std::vector<double>& params) {
    params_ = params;
    launches_.clear();
    launches_.resize(static_cast<std::size_t>(parts_.clock.cycle));
}

// Arrays may be others in each step, so that no more is prepared than is launched.
std::array<PreparedLaunch, 2>& RepeatBlock::launches_in(std::int64_t phase) {
    std::optional<std::array<PreparedLaunch, 2>>& launches = launches_[parts_.clock.in_cycle(phase)];
    if (!launches)
        launches.emplace(std::array{parts_.launches.prepare(block().kernel, phase, params_),
                                    parts_.launches.prepare(block().kernel, phase, params_, &repeat())});
    return *launches;
}

std::int64_t RepeatBlock::launches_of(int repeat) const {
    return repeat == repeat_ ? blocks_of_repeat(block(), this->repeat()) : 0;
}

std::int64_t RepeatBlock::left_of(int repeat) const {
    return parts_.setup.plan.repeats[static_cast<std::size_t>(repeat)].count -
           launches_of(repeat) * block().steps;
}

void RepeatBlock::launch_all(std::int64_t phase) {
    const std::int64_t count = launches_of(repeat_);
    std::array<PreparedLaunch, 2>& launches = launches_in(phase);
    for (std::int64_t number = 0; number < count; ++number)
        parts_.setup.device->launch(kernel_, {block().kernel.blocks, 1, 1},
                                    launches[static_cast<std::size_t>(number % 2)].pointers.data());
    fill_images(phase, count % 2 == 1);
}

// Of the levels that the next iteration reads.
void RepeatBlock::fill_images(std::int64_t phase, bool exchanged) {
    for (const RepeatPlan::Exchange& each : repeat().exchanges) {
        const int field = exchanged ? each.other : each.field;
        if (parts_.arrays.images(field).empty()) continue;
        const Level& level = parts_.arrays.level_in_step(field, exchanged ? 0 : each.time, phase);
        parts_.setup.device->run_halo_passes(parts_.arrays.images(field),
                                             parts_.setup.plan.fields[static_cast<std::size_t>(field)].type,
                                             level.array);
    }
}

}  // namespace halo::rt::session
