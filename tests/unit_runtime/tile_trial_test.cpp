// Which of single steps and time tiles do the rest of a run, by the seconds that they took.
#include "runtime/core/session/tile_trial.h"

#include "catch.h"

using halo::rt::session::TileTrial;

namespace {

constexpr std::int64_t kAllSteps = 16;

struct TrialResult {
    std::int64_t steps = 0;  // by tiles
    bool tiles_win = false;
};

// A trial to its end, where each step takes these seconds, as a tile of few steps, and of all.
TrialResult trial(double single, double few, double whole) {
    TileTrial trial;
    trial.start(kAllSteps);
    TrialResult took;
    while (!trial.is_over()) {
        while (trial.wants_singles())
            trial.add_single(single);
        const std::int64_t steps = trial.steps_of_tile(kAllSteps);
        trial.add_tile((steps == kAllSteps ? whole : few) * static_cast<double>(steps), steps);
        took.steps += steps;
    }
    took.tiles_win = trial.wins();
    return took;
}

}  // namespace

TEST_CASE("whole tiles are tried out where few steps say that they may be faster") {
    const TrialResult fast = trial(1, 0.95, 0.95);
    CHECK(fast.tiles_win);
    CHECK(fast.steps == TileTrial::kFewSteps + 2 * kAllSteps);
    CHECK_FALSE(trial(1, 1.2, 1.1).tiles_win);
    CHECK(trial(1, 1.2, 0.95).tiles_win);
}

TEST_CASE("one whole tile ends a trial where it is far faster or slower") {
    const TrialResult fast = trial(1, 0.8, 0.4);
    CHECK(fast.tiles_win);
    CHECK(fast.steps == TileTrial::kFewSteps + kAllSteps);
    const TrialResult slow = trial(1, 1.2, 1.3);
    CHECK_FALSE(slow.tiles_win);
    CHECK(slow.steps == TileTrial::kFewSteps + kAllSteps);
}

TEST_CASE("few steps end a trial where tiles are slow") {
    const TrialResult slow = trial(1, 1.3, 1.2);
    CHECK_FALSE(slow.tiles_win);
    CHECK(slow.steps == 2 * TileTrial::kFewSteps);
    const TrialResult hopeless = trial(1, 2, 1.8);
    CHECK_FALSE(hopeless.tiles_win);
    CHECK(hopeless.steps == TileTrial::kFewSteps);
}

TEST_CASE("a look that other work made slow is not the last") {
    TileTrial trial;
    trial.start(kAllSteps);
    trial.add_single(1);
    trial.add_tile(1.3 * TileTrial::kFewSteps, TileTrial::kFewSteps);
    CHECK_FALSE(trial.is_over());
    CHECK(trial.wants_singles());
    trial.add_tile(0.8 * TileTrial::kFewSteps, TileTrial::kFewSteps);
    CHECK(trial.steps_of_tile(kAllSteps) == kAllSteps);
    CHECK_FALSE(trial.wants_singles());  // the whole tile comes next
}

TEST_CASE("tiles of few steps have no first look") {
    TileTrial trial;
    trial.start(TileTrial::kFewSteps);
    CHECK(trial.steps_of_tile(TileTrial::kFewSteps) == TileTrial::kFewSteps);
    trial.add_single(1);
    for (const bool is_over : {false, true}) {
        trial.add_tile(1.1 * TileTrial::kFewSteps, TileTrial::kFewSteps);
        CHECK(trial.is_over() == is_over);
    }
    CHECK_FALSE(trial.wins());
}
