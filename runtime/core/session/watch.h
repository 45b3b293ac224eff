// Stepping until a condition holds: what steppers that do many steps between two checks share. Not for other
// rooms.
//
// Checking reductions after every step makes the device wait for the host each time, which on small grids
// takes longer than the step. So a stepper that keeps every step's reductions does many steps, the host
// checks all of them, and where the condition held after an earlier one, the levels saved before are restored
// and the steps up to there are done again. The result is the same as with a check after each.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/core/session/stepper.h"

namespace halo::rt::session {

struct Watch {
    const HostScalar& until;
    std::int64_t check_every = 1;
    std::int64_t steps_before = 0;  // of this run: checks count from its start
    std::int64_t last_step = 0;     // of this run: always checked
    bool due(std::int64_t step) const { return step % check_every == 0 || step == last_step; }
};

struct Watched {
    std::int64_t steps = 0;
    bool holds = false;
};

// Repeats steps, after those that went too far were undone.
using StepAgain = std::function<void(std::int64_t count)>;

// reductions: their values, by ReductionPlan. steps: done so far.
bool holds(const Parts& parts, const HostScalar& until, const std::vector<double>& reductions,
           std::int64_t steps);

// The levels at phase 0 that the coming steps read before they write them, or write in part: t and the past
// of states, and outputs; and what the last step reduced, where scalars of the device follow from it. All
// else is written anew, or never.
class Snapshot {
public:
    explicit Snapshot(Parts& parts) : parts_(parts) {}
    bool has_room();  // made at the first call, where there is
    void save();
    void restore();

private:
    struct Saved {
        void* memory = nullptr;
        std::int64_t bytes = 0;
        Level* level = nullptr;  // null: partial results
    };
    std::vector<Saved> all();

    Parts& parts_;
    std::vector<DeviceMemory> memory_;
    std::vector<bool> images_due_;  // Level::images_due of these
};

}  // namespace halo::rt::session
