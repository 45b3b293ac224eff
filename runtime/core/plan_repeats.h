// Questions about a plan's repeats, which may be within each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "runtime/core/launch_plan.h"

namespace halo::rt {

// The first repeat after that one and those within it.
std::size_t next_repeat(const LaunchPlan& plan, std::size_t repeat);
bool has_repeat_within(const LaunchPlan& plan, std::size_t repeat);

// The innermost repeat around that one whose condition the device finds; -1: none.
int ended_around(const LaunchPlan& plan, int repeat);

// A kernel combines it after each iteration of a repeat: its value lies behind the blocks' partial results.
bool is_combined_by_repeat(const LaunchPlan& plan, int reduction);

// The plan's block that does several iterations of that repeat; null: there is none.
const TimeBlock* block_of_repeat(const LaunchPlan& plan, std::size_t repeat);

// Launches of a block that does several iterations of the repeat: those that begin it, each time that it is
// done.
std::int64_t blocks_of_repeat(const TimeBlock& block, const RepeatPlan& repeat);

// The repeat where its iteration `time`, from 0 on, finds its arrays exchanged; null where it does not.
const RepeatPlan* exchanged_in(const RepeatPlan& repeat, std::int64_t time);

// Whether ghosts are due after iterations of a repeat.
bool exchanges_in_step(const LaunchPlan& plan);

// Whether the host computes scalars between kernels of a repeat, of what they have reduced.
bool waits_within_repeats(const LaunchPlan& plan);

// Of what `weigh` gives for kernels: the sum from `first` on, with the repeats among them, of which `repeat`
// is the first in the plan, as often as they are done. Those that a condition ends count once.
template <class Weigh>
std::int64_t sum_of_kernels(const LaunchPlan& plan, int first, int past, std::size_t repeat,
                            const Weigh& weigh) {
    std::int64_t sum = 0;
    for (int k = first; k < past;) {
        if (repeat == plan.repeats.size() || k < plan.repeats[repeat].first) {
            sum += weigh(k++);
            continue;
        }
        const RepeatPlan& inner = plan.repeats[repeat];
        const std::int64_t once = sum_of_kernels(plan, inner.first, inner.past, repeat + 1, weigh);
        const std::int64_t exchanged = std::ssize(inner.exchanges);
        sum += inner.until ? once : once + (inner.count - 1) * (once - exchanged);
        k = inner.past;
        repeat = next_repeat(plan, repeat);
    }
    return sum;
}

}  // namespace halo::rt
