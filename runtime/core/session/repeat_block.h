// Several iterations of a repeat in one launch (TimeBlock::OfRepeat). Not for other rooms.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/core/session/stepper.h"

namespace halo::rt::session {

// The kernel reads and writes cells alone, as those of time blocks do, so that halo images are filled where
// single iterations or other kernels follow.
class RepeatBlock {
public:
    // Nothing where the plan has no such block, or its kernel is not for this grid. Throws where no module
    // has the kernel.
    static std::unique_ptr<RepeatBlock> make(Parts& parts);

    void prepare(const std::vector<double>& params);
    KernelInfo kernel_info() const { return kernel_.info(); }
    // Launches that begin the repeat, each time that it is done; 0 of another repeat.
    std::int64_t launches_of(int repeat) const;
    // Iterations that are left then.
    std::int64_t left_of(int repeat) const;
    // All of them. Arrays are exchanged after each, as after a single iteration.
    void launch_all(std::int64_t phase);

private:
    RepeatBlock(Parts& parts, Kernel& kernel, int index);
    const TimeBlock& block() const { return *parts_.setup.plan.time_block; }
    const RepeatPlan& repeat() const { return parts_.setup.plan.repeats[static_cast<std::size_t>(repeat_)]; }
    std::array<PreparedLaunch, 2>& launches_in(std::int64_t phase);
    void fill_images(std::int64_t phase, bool exchanged);

    Parts& parts_;
    Kernel& kernel_;
    int repeat_;
    std::vector<double> params_;
    // By phase, those that were launched; the second is with the arrays exchanged.
    std::vector<std::optional<std::array<PreparedLaunch, 2>>> launches_;
};

}  // namespace halo::rt::session
