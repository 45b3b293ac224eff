// Which states of a run are kept so that its steps can be undone, the last one first: the binomial schedule
// of Griewank and Walther (Algorithm 799: revolve, ACM Transactions on Mathematical Software 26, 2000), which
// does the fewest steps again for the number of states that are kept.
#pragma once

#include <cstdint>
#include <functional>

namespace halo::adjoint {

// The memory for states, in units such as one array. A state that is one step after one that is kept may take
// less than another, as they share levels.
struct SnapshotBudget {
    std::int64_t units = 1;
    std::int64_t of_state = 1, of_next = 1;  // 1 or more; of_next is no more than of_state
};

// What a run does, in order. Its state is that before step 0 at first.
struct SnapshotActions {
    std::function<void(std::int64_t step, int slot)> keep;     // the state, which is that before `step`
    std::function<void(std::int64_t step, int slot)> restore;  // what was kept there
    std::function<void(std::int64_t from, std::int64_t to)> advance;
    std::function<void(std::int64_t step)> undo;  // the state is that before it
    std::function<void(int slot)> drop;  // nothing goes back to what is kept there; empty: nothing to do
};

// Undoes all steps with the states kept that the budget has room for, and one at least. Slots are counted
// from 0; the first has the state before step 0 to the end.
void go_back(std::int64_t steps, const SnapshotBudget& budget, const SnapshotActions& actions);

// The fewest states with which no step is done again more than `repeats` times, which is 1 or more.
std::int64_t snapshots_for(std::int64_t steps, std::int64_t repeats);

// The steps that are done on the way, the last one, whose result nothing needs, not among them.
std::int64_t steps_forward(std::int64_t steps, const SnapshotBudget& budget);
// The most states that are kept at a time.
int most_kept(std::int64_t steps, const SnapshotBudget& budget);

}  // namespace halo::adjoint
