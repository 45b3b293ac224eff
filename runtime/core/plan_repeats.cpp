#include "runtime/core/plan_repeats.h"

#include <algorithm>

namespace halo::rt {

bool is_combined_by_repeat(const LaunchPlan& plan, int reduction) {
    return std::ranges::any_of(plan.repeats, [&](const RepeatPlan& repeat) {
        return repeat.until && repeat.until->kernel >= 0 &&
               std::ranges::find(repeat.until->reductions, reduction) != repeat.until->reductions.end();
    });
}

int ended_around(const LaunchPlan& plan, int repeat) {
    int around = -1;
    for (int outer = 0; outer < repeat; ++outer) {
        const RepeatPlan& each = plan.repeats[static_cast<std::size_t>(outer)];
        const bool is_around = each.past > plan.repeats[static_cast<std::size_t>(repeat)].first;
        if (is_around && each.until && each.until->kernel >= 0) around = outer;
    }
    return around;
}

std::size_t next_repeat(const LaunchPlan& plan, std::size_t repeat) {
    std::size_t next = repeat + 1;
    while (next < plan.repeats.size() && plan.repeats[next].first < plan.repeats[repeat].past)
        ++next;
    return next;
}

bool has_repeat_within(const LaunchPlan& plan, std::size_t repeat) {
    return next_repeat(plan, repeat) > repeat + 1;
}

const TimeBlock* block_of_repeat(const LaunchPlan& plan, std::size_t repeat) {
    const TimeBlock::OfRepeat* const of = plan.time_block ? plan.time_block->of_repeat() : nullptr;
    return of != nullptr && of->repeat == static_cast<int>(repeat) ? &*plan.time_block : nullptr;
}

std::int64_t blocks_of_repeat(const TimeBlock& block, const RepeatPlan& repeat) {
    return (block.is_whole ? repeat.count : repeat.count - 1) / block.steps;
}

const RepeatPlan* exchanged_in(const RepeatPlan& repeat, std::int64_t time) {
    return time % 2 == 1 && !repeat.exchanges.empty() ? &repeat : nullptr;
}

bool exchanges_in_step(const LaunchPlan& plan) {
    return std::ranges::any_of(plan.repeats,
                               [](const RepeatPlan& repeat) { return !repeat.ghosts_due.empty(); });
}

bool waits_within_repeats(const LaunchPlan& plan) {
    const auto reads_own = [&](const RepeatPlan& repeat, const Argument& argument) {
        return argument.kind == Argument::Kind::scalar &&
               std::ranges::any_of(argument.scalar.steps, [&](const HostScalar::Step& step) {
                   if (step.op != HostScalar::Op::reduction) return false;
                   const int kernel = plan.reductions[static_cast<std::size_t>(step.index)].kernel;
                   return kernel >= repeat.first && kernel < repeat.past;
               });
    };
    return std::ranges::any_of(plan.repeats, [&](const RepeatPlan& repeat) {
        return std::any_of(plan.kernels.begin() + repeat.first, plan.kernels.begin() + repeat.past,
                           [&](const KernelPlan& kernel) {
                               return std::ranges::any_of(kernel.arguments, [&](const Argument& argument) {
                                   return reads_own(repeat, argument);
                               });
                           });
    });
}

}  // namespace halo::rt
