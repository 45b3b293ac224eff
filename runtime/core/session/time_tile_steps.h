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

private:
    // Rounds of as many single steps as a tile does, and a tile. The shortest times count, as other work on
    // the machine makes some longer.
    class Trial {
    public:
        bool is_over() const { return rounds_ == kRounds; }
        bool wins() const { return tile_ <= singles_; }
        void skip() { rounds_ = kRounds; }

        // Before a step, of `count` that are left of a call. Whether it is to be done singly, which the next
        // call here then times.
        bool takes_single(std::int64_t count, std::int64_t steps);
        void add_tile(double seconds);

    private:
        static constexpr int kRounds = 2;
        using Clock = std::chrono::steady_clock;
        int rounds_ = 0;
        std::int64_t timed_ = 0;  // single steps of this round
        double seconds_ = 0;      // that they took
        std::int64_t count_ = 0;  // at the beginning of a single step; 0: none is timed
        Clock::time_point begin_;
        double singles_ = std::numeric_limits<double>::infinity(), tile_ = singles_;
    };
    struct Chosen {
        TileShape shape;
        Lags lags;  // of the sweeps of the most steps done at once
    };
    bool can_run() const;
    void choose();
    TileNeeds needs_of(const std::vector<Sweep>& sweeps, const Lags& lags, int steps) const;
    std::array<bool, kMaxRank> periodic_axes() const;
    Sweep sweep_of(int kernel, PreparedLaunch& launch) const;
    std::vector<Sweep> sweeps_of(std::int64_t count, std::vector<PreparedLaunch>& own) const;

    Parts& parts_;
    std::optional<Chosen> chosen_;  // at the first step
    Trial trial_;
};

}  // namespace halo::rt::session
