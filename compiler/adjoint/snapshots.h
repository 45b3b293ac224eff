// Which states of a run are kept so that its steps can be undone, the last one first: the binomial schedule
// of Griewank and Walther (Algorithm 799: revolve, ACM Transactions on Mathematical Software 26, 2000), which
// does the fewest steps again for the number of states that are kept.
#pragma once

#include <cstdint>
#include <functional>

namespace halo::adjoint {

// What a run does, in order. Its state is that before step 0 at first.
struct SnapshotActions {
    std::function<void(std::int64_t step, int slot)> keep;     // the state, which is that before `step`
    std::function<void(std::int64_t step, int slot)> restore;  // what was kept there
    std::function<void(std::int64_t from, std::int64_t to)> advance;
    std::function<void(std::int64_t step)> undo;  // the state is that before it
};

// Undoes all steps with at most `snapshots` states kept at a time, 1 or more. Slots are counted from 0.
void go_back(std::int64_t steps, int snapshots, const SnapshotActions& actions);

// The fewest states with which no step is done again more than `repeats` times, which is 1 or more.
std::int64_t snapshots_for(std::int64_t steps, std::int64_t repeats);

// The steps that are done on the way, the last one, whose result nothing needs, not among them.
std::int64_t steps_forward(std::int64_t steps, int snapshots);

}  // namespace halo::adjoint
