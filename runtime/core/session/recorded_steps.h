// Recordings of many steps that are replayed. Not for other rooms.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/core/session/single_steps.h"

namespace halo::rt::session {

class RecordedSteps final : public Stepper {
public:
    RecordedSteps(Parts& parts, SingleSteps& singles, Snapshot& snapshot);
    std::int64_t step(std::int64_t count, bool with_results) override;
    void prepare(const std::vector<double>& params) override;
    // Steps come about so many at a time: recordings are no longer than that.
    void expect(std::int64_t at_a_time);

    std::int64_t length() const { return length_; }  // steps of a recording, from phase 0
    // Whether a recording can keep what the condition reads.
    bool can_watch(const HostScalar& until);
    // One recording, from phase 0; halos are filled.
    Watched watch(const Watch& watch, const StepAgain& again);

private:
    void forget();
    void choose_length();
    void follow_kernels();
    bool can_replay() const;            // whether launches of one step can be those of another
    void replay(Recording& recording);  // of `length_` steps, from the present one on

    Parts& parts_;
    SingleSteps& singles_;
    Snapshot& snapshot_;
    std::int64_t length_ = 0;
    std::int64_t at_a_time_ = 0;            // as expected; 0: not said
    StepRange same_kernels_;                // the steps that recordings may be of
    std::unique_ptr<Recording> recording_;  // of steps without results
    std::unique_ptr<Recording> last_;       // one whose last step is with results
    std::unique_ptr<Recording> watched_;    // one that also keeps each step's reductions
    std::vector<bool> watched_reductions_;  // by ReductionPlan: those that it keeps
    DeviceMemory results_;                  // of `watched_`: [step][reduction]
};

}  // namespace halo::rt::session
