// Whether time tiles are faster than single steps depends on the arithmetic of a cell and on the machine, so
// at first both take turns, and the faster ones do the rest of a run. The fewest seconds of a step count, as
// other work on the machine makes some longer.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace halo::rt::session {

class TileTrial {
public:
    static constexpr int kSingles = 4;   // single steps of a round, before its tile
    static constexpr int kFewSteps = 4;  // of the tiles of the first look
    // Times a single step. A tile of few steps moves a quarter of the bytes, so that more steps save little:
    // what is slower by more than that quarter has lost, unless other work explains it.
    static constexpr double kSlow = 1.25;
    static constexpr double kHopeless = 1.4;  // other work does not explain it
    static constexpr double kFast = 0.9;      // whole tiles have won

    // steps: of a whole tile. Its first rounds have few of them where that says enough: a machine whose last
    // cache is slow takes several times as long by tiles as by single steps.
    void start(std::int64_t steps) {
        rounds_left_ = kRounds;
        looks_left_ = steps > kFewSteps ? kLooks : 0;
    }
    bool is_over() const { return rounds_left_ == 0; }
    bool wins() const { return tile_ <= singles_; }
    bool wants_singles() const { return timed_ < kSingles; }
    // Of the next tile, so many steps at most.
    std::int64_t steps_of_tile(std::int64_t whole) const { return looks_left_ > 0 ? kFewSteps : whole; }
    std::optional<double> seconds_of_single() const { return latest_; }  // none before one was timed

    void add_single(double seconds);
    void add_tile(double seconds, std::int64_t steps);

private:
    static constexpr int kRounds = 2;
    static constexpr int kLooks = 2;  // a single one may have met other work on the machine

    int rounds_left_ = 0;
    int looks_left_ = 0;
    int timed_ = 0;  // single steps of this round
    std::optional<double> latest_;
    // Seconds of a step, the fewest: single steps are tried out in several ways themselves (SweepOrder).
    double singles_ = std::numeric_limits<double>::infinity(), tile_ = singles_;
};

}  // namespace halo::rt::session
