// The search, on devices that are made up: a function of the schedule says how long a step takes.
#include "compiler/tune/search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "catch.h"

using namespace halo;
using schedule::Candidate;
using schedule::Schedule;
using schedule::Strategy;
using tune::Outcome;
using Kind = Outcome::Kind;
using Stop = tune::SearchResult::Stop;

namespace {

// Direct and tile schedules over two axes, ranked by a model that knows nothing of rows.
std::vector<Candidate> space() {
    std::vector<Candidate> all;
    for (const schedule::Strategy& strategy :
         std::vector<schedule::Strategy>{schedule::Direct{}, schedule::Tile{}}) {
        for (int x = 8; x <= 256; x *= 2) {
            for (int y = 1; y <= 16; y *= 2) {
                for (int cells = 1; cells <= 8; cells *= 2) {
                    Schedule schedule;
                    schedule.strategy = strategy;
                    schedule.threads = {x, y, 1};
                    schedule.cells = {4, cells, 1};
                    const double rank = 1 + 0.2 * std::abs(std::log2(x / 64.0)) +
                                        (std::holds_alternative<schedule::Tile>(strategy) ? 0.3 : 0);
                    all.push_back({schedule, rank, rank * 1e-9});
                }
            }
        }
    }
    schedule::sort_by_rank(all);
    return all;
}

// One valley, with its floor at 32x8 threads and 4 rows a thread, direct.
double valley(const Schedule& schedule) {
    const double x = std::log2(schedule.threads[0] / 32.0), y = std::log2(schedule.threads[1] / 8.0);
    const double cells = std::log2(schedule.cells[1] / 4.0);
    return (std::holds_alternative<schedule::Tile>(schedule.strategy) ? 2 : 1) *
           (1 + 0.1 * (x * x + y * y + cells * cells));
}

// What a fake device is told of a candidate: of a grouping its steps and ahead, as planes and padding.
Schedule seen(const Candidate& candidate) {
    if (candidate.grouping() == nullptr) return candidate.schedule();
    Schedule made;
    if (const auto* temporal = std::get_if<schedule::TemporalSchedule>(candidate.grouping())) {
        made.strategy = schedule::Stream{.planes = temporal->steps, .padding = temporal->ahead};
    }
    return made;
}

bool is_floor(const Schedule& schedule) {
    return valley(schedule) == 1;
}

class FakeDevice : public tune::Measure {
public:
    explicit FakeDevice(const std::vector<Candidate>& candidates) : candidates_(candidates) {}

    void prepare(const std::vector<std::size_t>& candidates) override {
        CHECK_FALSE(candidates.empty());
        CHECK(std::set<std::size_t>(candidates.begin(), candidates.end()).size() == candidates.size());
        expected = candidates;
    }
    Outcome measure(std::size_t candidate, double best) override {
        CHECK(asked.insert(candidate).second);  // nothing is measured twice
        if (!expected.empty()) CHECK(expected.front() == candidate);
        const Outcome outcome = outcome_of(seen(candidates_[candidate]));
        if (outcome.kind == Kind::measured && outcome.seconds > 1.3 * best)
            return {Kind::slower, outcome.seconds, ""};
        return outcome;
    }
    std::optional<Outcome> verify(std::size_t candidate) override {
        verified.insert(candidate);
        if (!is_wrong(seen(candidates_[candidate]))) return std::nullopt;
        return Outcome{trouble, 0, "cell 3 is 1 instead of 2"};
    }
    std::vector<double> compare(const std::vector<std::size_t>& candidates) override {
        compared = candidates;
        std::vector<double> seconds;
        for (const std::size_t i : candidates)
            seconds.push_back(in_comparison(seen(candidates_[i])));
        return seconds;
    }
    bool budget_is_spent() override { return static_cast<int>(asked.size()) >= budget; }
    bool interrupted() override { return static_cast<int>(asked.size()) >= interrupt_after; }
    void tried(std::size_t candidate, const Outcome& outcome, std::optional<std::size_t> best) override {
        log[candidate] = outcome;
        last_best = best;
    }

    std::function<Outcome(const Schedule&)> outcome_of = [](const Schedule& s) {
        return Outcome{Kind::measured, valley(s), ""};
    };
    std::function<bool(const Schedule&)> is_wrong = [](const Schedule&) { return false; };
    std::function<double(const Schedule&)> in_comparison = valley;
    Kind trouble = Kind::wrong;
    int budget = 1000, interrupt_after = 1000;
    std::set<std::size_t> asked, verified;
    std::vector<std::size_t> expected, compared;
    std::map<std::size_t, Outcome> log;
    std::optional<std::size_t> last_best;

private:
    const std::vector<Candidate>& candidates_;
};

}  // namespace

TEST_CASE("the search finds the fastest of many by measuring some, from a model that does not know it") {
    const std::vector<Candidate> candidates = space();
    FakeDevice device(candidates);
    const tune::SearchResult result = tune::search(candidates, 2, device);
    REQUIRE(result.winner);
    CHECK(is_floor(candidates[*result.winner].schedule()));
    CHECK(result.seconds == 1);
    CHECK(result.first_seconds == valley(candidates[0].schedule()));
    CHECK(result.stop == Stop::settled);
    CHECK(result.trials < static_cast<int>(candidates.size()) / 2);
    CHECK(device.verified.contains(*result.winner));
    CHECK(device.log.size() == device.asked.size());
    CHECK(device.last_best == result.winner);
    // The slow strategy was looked at, and given up.
    const auto tiles = std::count_if(device.asked.begin(), device.asked.end(), [&](std::size_t i) {
        return std::holds_alternative<schedule::Tile>(candidates[i].schedule().strategy);
    });
    CHECK(tiles >= 1);
    CHECK(tiles <= 6);
}

TEST_CASE("a strategy that the model thinks little of wins where it is faster") {
    const std::vector<Candidate> candidates = space();
    FakeDevice device(candidates);
    const auto seconds = [](const Schedule& s) {
        return valley(s) * (std::holds_alternative<schedule::Tile>(s.strategy) ? 0.25 : 1);
    };
    device.outcome_of = [&](const Schedule& s) { return Outcome{Kind::measured, seconds(s), ""}; };
    device.in_comparison = seconds;
    const tune::SearchResult result = tune::search(candidates, 2, device);
    REQUIRE(result.winner);
    CHECK(std::holds_alternative<schedule::Tile>(candidates[*result.winner].schedule().strategy));
    CHECK(result.seconds == 0.5);
}

TEST_CASE("what spills, fails or is wrong does not win, however fast") {
    const std::vector<Candidate> candidates = space();
    FakeDevice device(candidates);
    device.outcome_of = [](const Schedule& s) {
        if (s.threads[0] == 64) return Outcome{Kind::spilled, 0, "40 bytes"};
        if (s.threads[0] == 16) return Outcome{Kind::refused, 0, "no room"};
        return Outcome{Kind::measured, valley(s), ""};
    };
    device.is_wrong = [](const Schedule& s) { return s.threads[1] == 8; };
    const tune::SearchResult result = tune::search(candidates, 2, device);
    REQUIRE(result.winner);
    const Schedule& winner = candidates[*result.winner].schedule();
    CHECK(winner.threads[0] == 32);
    CHECK(winner.threads[1] != 8);
    CHECK(result.seconds == Approx(1.1));
    CHECK_FALSE(result.first_seconds);  // the model's choice spilled
    int wrong = 0;
    for (const auto& [i, outcome] : device.log) {
        if (outcome.kind != Kind::wrong) continue;
        ++wrong;
        CHECK(candidates[i].schedule().threads[1] == 8);
        CHECK(outcome.why == "cell 3 is 1 instead of 2");
    }
    CHECK(wrong >= 1);
}

TEST_CASE("what cannot be verified never wins, and is not kept as wrong") {
    const std::vector<Candidate> candidates = space();
    FakeDevice device(candidates);
    device.is_wrong = [](const Schedule& s) { return is_floor(s); };
    device.trouble = Kind::unverified;
    const tune::SearchResult result = tune::search(candidates, 2, device);
    REQUIRE(result.winner);
    CHECK_FALSE(is_floor(candidates[*result.winner].schedule()));
    const auto is_kept_as = [&](Kind kind) {
        return std::ranges::count_if(result.outcomes,
                                     [&](const auto& outcome) { return outcome && outcome->kind == kind; });
    };
    CHECK(is_kept_as(Kind::unverified) >= 1);
    CHECK(is_kept_as(Kind::wrong) == 0);
}

TEST_CASE("where nothing can be run there is no winner") {
    const std::vector<Candidate> candidates = space();
    FakeDevice device(candidates);
    device.outcome_of = [](const Schedule&) { return Outcome{Kind::refused, 0, "no"}; };
    const tune::SearchResult result = tune::search(candidates, 2, device);
    CHECK_FALSE(result.winner);
    CHECK_FALSE(device.last_best);
    CHECK(tune::search({}, 2, device).stop == Stop::exhausted);
}

TEST_CASE("the model's choice wins where others are no faster than noise, and loses where they are") {
    const std::vector<Candidate> candidates = space();
    FakeDevice device(candidates);
    // As it is measured, one candidate seems the best by far; timed in turns, it is not.
    device.outcome_of = [&](const Schedule& s) {
        return Outcome{Kind::measured, s == candidates[0].schedule() ? 1.03 : is_floor(s) ? 1.0 : 1.5, ""};
    };
    device.in_comparison = [&](const Schedule& s) { return s == candidates[0].schedule() ? 1.0 : 0.998; };
    CHECK(tune::search(candidates, 2, device).winner == std::size_t{0});
    FakeDevice other(candidates);
    other.outcome_of = device.outcome_of;
    other.in_comparison = [&](const Schedule& s) { return s == candidates[0].schedule() ? 1.0 : 0.98; };
    tune::SearchOptions all;
    all.patience = 1000;
    const tune::SearchResult result = tune::search(candidates, 2, other, {}, all);
    REQUIRE(result.winner);
    CHECK(is_floor(candidates[*result.winner].schedule()));
    CHECK(other.compared.front() == 0);
    CHECK(result.stop == Stop::exhausted);
}

TEST_CASE("a budget ends the search with the best so far") {
    const std::vector<Candidate> candidates = space();
    FakeDevice device(candidates);
    device.budget = 5;
    const tune::SearchResult result = tune::search(candidates, 2, device);
    CHECK(result.stop == Stop::budget);
    CHECK(result.trials == 5);
    REQUIRE(result.winner);
    for (const std::size_t i : device.asked)
        CHECK(valley(candidates[*result.winner].schedule()) <= valley(candidates[i].schedule()));
}

TEST_CASE("a search that was interrupted goes on where it was") {
    const std::vector<Candidate> candidates = space();
    FakeDevice first(candidates);
    first.interrupt_after = 7;
    const tune::SearchResult begun = tune::search(candidates, 2, first);
    CHECK(begun.stop == Stop::interrupted);
    CHECK(begun.trials == 7);
    CHECK(begun.winner);
    CHECK(first.compared.empty());
    CHECK(std::count_if(begun.outcomes.begin(), begun.outcomes.end(),
                        [](const auto& o) { return o.has_value(); }) == 7);

    FakeDevice second(candidates);
    const tune::SearchResult ended = tune::search(candidates, 2, second, begun.outcomes);
    REQUIRE(ended.winner);
    CHECK(is_floor(candidates[*ended.winner].schedule()));
    for (const std::size_t i : first.asked)
        CHECK_FALSE(second.asked.contains(i));
    CHECK(second.verified.contains(*begun.winner));  // what an earlier run found is verified again

    FakeDevice third(candidates);  // and once all is known there is nothing to do but to compare
    third.budget = 0;
    const tune::SearchResult again = tune::search(candidates, 2, third, ended.outcomes);
    CHECK(third.asked.empty());
    CHECK(again.winner == ended.winner);
}

TEST_CASE("what was the best and has become wrong is dropped when a search goes on") {
    const std::vector<Candidate> candidates = space();
    FakeDevice first(candidates);
    const tune::SearchResult begun = tune::search(candidates, 2, first);
    FakeDevice second(candidates);
    second.is_wrong = is_floor;
    const tune::SearchResult ended = tune::search(candidates, 2, second, begun.outcomes);
    REQUIRE(ended.winner);
    CHECK_FALSE(is_floor(candidates[*ended.winner].schedule()));
    CHECK(ended.outcomes[*begun.winner]->kind == Kind::wrong);
}

namespace {

// Single steps, then schedules for several; the fake device sees `planes` and `padding` in place of steps and
// ahead.
std::vector<Candidate> several_steps() {
    std::vector<Candidate> all{{schedule::Grouping(schedule::SingleSteps{})}};
    for (int steps = 1; steps <= 16; ++steps) {
        for (int ahead = 2; ahead <= 6; ++ahead) {
            schedule::TemporalSchedule temporal;
            temporal.steps = steps;
            temporal.ahead = ahead;
            all.push_back({schedule::Grouping(temporal),
                           1 + std::abs(std::log2(steps / 8.0)) + 0.01 * std::abs(ahead - 4)});
        }
    }
    schedule::sort_by_rank(all, 1);
    return all;
}

}  // namespace

TEST_CASE("the best of several steps at once is found from single steps on") {
    const std::vector<Candidate> candidates = several_steps();
    FakeDevice device(candidates);
    device.in_comparison = [](const Schedule& s) {
        const auto* const walk = std::get_if<schedule::Stream>(&s.strategy);
        return walk == nullptr ? 1.0 : 0.3 + 0.1 * std::abs(walk->planes - 5) + 0.01 * (walk->padding - 2);
    };
    device.outcome_of = [&](const Schedule& s) {
        return Outcome{Kind::measured, device.in_comparison(s), ""};
    };
    device.budget = 50;
    const tune::SearchResult result = tune::search(candidates, 2, device);
    REQUIRE(result.winner);
    CHECK(schedule::steps_of(candidates[*result.winner]) == 5);
    CHECK(candidates[*result.winner].grouping()->index() == 1);
    CHECK(result.first_seconds == 1.0);
}

TEST_CASE("several steps at once are given up where they are far slower, or spill") {
    const std::vector<Candidate> candidates = several_steps();
    for (const Kind kind : {Kind::measured, Kind::spilled}) {
        FakeDevice device(candidates);
        device.outcome_of = [&](const Schedule& s) {
            return std::holds_alternative<schedule::Stream>(s.strategy) ? Outcome{kind, 3, "40 bytes"}
                                                                        : Outcome{Kind::measured, 1, ""};
        };
        const tune::SearchResult result = tune::search(candidates, 2, device);
        CHECK(result.winner == std::size_t{0});
        CHECK(result.stop == Stop::exhausted);
        CHECK(result.trials == (kind == Kind::spilled ? 21 : 6));
    }
}
