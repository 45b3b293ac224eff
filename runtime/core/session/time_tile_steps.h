// Several steps at once on pieces of the grid that stay in a cache (time_tiles.h), on devices that can. Not
// for other rooms.
//
// Whether a plan may run so is decided in can_run() alone, from the plan: all that is not known to be safe
// there takes its steps one after the other. Whether tiles are faster depends on the arithmetic of a cell and
// on the machine, so at first tiles and single steps take turns, and the faster ones do the rest.
#pragma once

#include <array>
#include <chrono>
#include <limits>
#include <optional>

#include "runtime/core/session/stepper.h"
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
    // Rounds of a few single steps and a tile. Of the seconds that a step takes the least count, as other
    // work on the machine makes some longer.
    class Trial {
    public:
        static constexpr int kSingles = 4;  // that are timed in a round

        bool is_over() const { return rounds_ == kRounds; }
        bool wins() const { return tile_ <= singles_; }
        void start() { rounds_ = 0; }
        std::optional<double> seconds_of_single() const { return latest_; }  // none before one was timed

        // Before a step, of `count` that are left of a call: times the single step before it, which
        // begin_single() has announced.
        void end_single(std::int64_t count);
        void begin_single(std::int64_t count);
        bool wants_singles() const { return timed_ < kSingles; }
        void add_tile(double seconds, std::int64_t steps);

    private:
        static constexpr int kRounds = 2;
        using Clock = std::chrono::steady_clock;
        int rounds_ = kRounds;    // that are done
        int timed_ = 0;           // single steps of this round
        std::int64_t count_ = 0;  // at the beginning of a single step; 0: none is timed
        Clock::time_point begin_;
        std::optional<double> latest_;
        // Seconds of a step, the fewest: single steps are tried out in several ways themselves (SweepOrder).
        double singles_ = std::numeric_limits<double>::infinity(), tile_ = singles_;
    };
    struct Chosen {
        TileShape shape;
        Lags lags;  // of the sweeps of the most steps done at once
    };
    bool can_run() const;
    bool is_in_steps(const KernelPlan& kernel) const;
    void choose();
    TileNeeds needs_of(const std::vector<Sweep>& sweeps, const Lags& lags, int steps) const;
    std::array<bool, kMaxRank> periodic_axes() const;
    Sweep sweep_of(int kernel, PreparedLaunch& launch) const;
    std::vector<Sweep> sweeps_of(std::int64_t count, std::vector<PreparedLaunch>& own) const;

    Parts& parts_;
    std::optional<Chosen> chosen_;  // at the first step
    StepRange same_kernels_;        // the steps that it is for
    Trial trial_;
};

}  // namespace halo::rt::session
