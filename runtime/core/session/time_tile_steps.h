// Several steps at once on pieces of the grid that stay in a cache (time_tiles.h), on devices that can. Not
// for other rooms.
//
// Whether a plan may run so is decided in can_run() alone, from the plan: all that is not known to be safe
// there takes its steps one after the other. Whether tiles are faster is tried out (tile_trial.h).
#pragma once

#include <array>
#include <chrono>
#include <optional>

#include "runtime/core/session/stepper.h"
#include "runtime/core/session/tile_trial.h"
#include "runtime/core/time_tiles.h"

namespace halo::rt::session {

class TimeTileSteps final : public Stepper {
public:
    explicit TimeTileSteps(Parts& parts) : parts_(parts) {}
    std::int64_t step(std::int64_t count, bool with_results) override;
    void prepare(const std::vector<double>& /*params*/) override {}  // takes what Launches prepares
    // 1, too, before any step.
    int steps_at_once() const { return chosen_ && trial_.wins() ? chosen_->shape.steps : 1; }
    // So many steps or more, of which tiles have as many as they can without a call that takes long.
    std::int64_t whole_steps(std::int64_t steps) const;

private:
    struct Chosen {
        TileShape shape;
        Lags lags;  // of the sweeps of the most steps done at once
    };
    // A single step that is timed: from one call of step() to the next.
    struct Single {
        std::int64_t count = 0;  // steps that were left of the call
        std::chrono::steady_clock::time_point begin;
    };
    bool can_run() const;
    bool is_in_steps(const KernelPlan& kernel) const;
    void choose();
    void end_single(std::int64_t count);
    TileNeeds needs_of(const std::vector<Sweep>& sweeps, const Lags& lags, int steps) const;
    std::array<bool, kMaxRank> periodic_axes() const;
    Sweep sweep_of(int kernel, PreparedLaunch& launch) const;
    std::vector<Sweep> sweeps_of(std::int64_t count, std::vector<PreparedLaunch>& own) const;

    Parts& parts_;
    std::optional<Chosen> chosen_;  // at the first step
    StepRange same_kernels_;        // the steps that it is for
    TileTrial trial_;
    std::optional<Single> single_;
};

}  // namespace halo::rt::session
