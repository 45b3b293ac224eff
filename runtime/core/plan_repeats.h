// Questions about a plan's repeats, which may be within each other.
#pragma once

#include <cstddef>

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

}  // namespace halo::rt
