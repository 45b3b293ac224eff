// Steps one at a time. Not for other rooms.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/core/session/repeat_block.h"
#include "runtime/core/session/stepper.h"
#include "runtime/core/session/watch.h"

namespace halo::rt::session {

// With fewer launches, these cost the host no more than starting a recording; and each in one takes about a
// kilobyte.
inline constexpr std::int64_t kLeastRecordedLaunches = 8, kMostRecordedLaunches = 20'000;

class SingleSteps final : public Stepper {
public:
    explicit SingleSteps(Parts& parts);
    std::int64_t step(std::int64_t count, bool with_results) override;
    void prepare(const std::vector<double>& params) override;
    // `step` counts the steps done before.
    void launch(std::int64_t step, std::int64_t phase, bool with_results, bool is_first = false);
    // Step n of a recording, from phase 0 on.
    void launch_recorded(std::int64_t step, bool with_results);
    // Records what `step` launches for each of so many steps.
    std::unique_ptr<Recording> record(std::int64_t count, const std::function<void(std::int64_t)>& step);
    // Later work in the main stream begins when the samples of the steps so far are taken.
    void wait_for_samples();
    // A step, the first of those that are asked for together.
    void step_first(bool with_results);
    // The block of the plan's repeat, once its code is there (LaunchPlan::time_block).
    void set_repeat_block(std::unique_ptr<RepeatBlock> block) { repeat_block_ = std::move(block); }
    const RepeatBlock* repeat_block() const { return repeat_block_.get(); }
    using Exchange = std::function<void(const std::vector<LevelArray>& levels)>;
    void exchange_with(Exchange exchange, bool fills_halos);  // as Session has it

private:
    struct Step {
        std::int64_t number = 0, phase = 0;
        bool with_results = false, is_first = false, is_recorded = false;
        std::vector<double> params;  // where launches change with the step
        bool has_samples = false;
    };
    void launch(Step& step);
    void launch(Step& step, std::size_t kernel, bool exchanged);
    // The kernels from `first` on and the repeats among them, of which `repeat` is the first in the plan.
    void launch_all(Step& step, int first, int past, std::size_t repeat, const RepeatPlan* exchanged);
    // The launches of an iteration of a repeat, but for the kernels in whose place arrays are exchanged.
    void launch_iteration(Step& step, int repeat, std::int64_t time);
    // The same. They are recorded, which takes the host as long as to launch them, and replayed from then on.
    void replay_iteration(Step& step, int repeat, std::int64_t time);
    bool can_replay_iterations(int repeat) const;
    void note_partials(std::size_t kernel);
    void launch_repeat(Step& step, int repeat);
    void copy_exchanged(Step& step, const RepeatPlan& repeat);
    // Of the levels as iteration `time` finds them.
    void exchange_ghosts(const Step& step, const RepeatPlan& repeat, std::int64_t time);
    // Until its condition holds, which the host finds, or the device.
    void iterate_by_host(Step& step, int repeat);
    void iterate_by_device(Step& step, int repeat);
    void move_outputs(std::int64_t phase);
    // What the launches of an iteration depend on.
    struct Iteration {
        int repeat = 0;
        std::size_t phase = 0;
        bool exchanged = false, with_results = false, is_first = false;
        auto operator<=>(const Iteration&) const = default;
    };
    Parts& parts_;
    std::unique_ptr<RepeatBlock> repeat_block_;  // where there is one for this grid
    std::map<Iteration, std::unique_ptr<Recording>> iterations_;
    Exchange exchange_;
    bool fills_halos_ = false;  // after an exchange
    // Samples are taken in the side stream, beside the next step's first kernels: where steps are recorded,
    // and where they are launched one by one.
    const bool samples_beside_, launches_beside_;
    bool samples_pending_ = false;  // of a step whose samples the main stream has not waited for
};

}  // namespace halo::rt::session
