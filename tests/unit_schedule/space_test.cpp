#include "compiler/schedule/space.h"
#include "compiler/schedule/strategies.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "catch.h"
#include "compiler/schedule/print.h"
#include "stencils.h"

using namespace halo;
using namespace halo::schedule;
using namespace halo::test;

namespace {

constexpr Extent kGrid{256, 192, 128};

Schedule read(const std::string& text, int rank) {
    return apply(parse(text, rank).pins, Schedule{});
}

double apart(const Schedule& a, const Schedule& b) {
    return distance(place_of({a, 0, {}}, 3), place_of({b, 0, {}}, 3));
}

}  // namespace

TEST_CASE("candidates are legal, each once, and begin with what would be chosen", "[space]") {
    for (const int rank : {1, 2, 3}) {
        for (const ir::Scalar type : {ir::Scalar::f32, ir::Scalar::f64}) {
            const Footprint f = footprint_of(sum_stencil(rank, type, star(rank, 2)));
            const std::vector<Candidate> candidates = list_candidates(f, Target{}, kGrid);
            REQUIRE(candidates.size() > 20);
            CHECK(candidates.front().schedule() == choose(f, Target{}, kGrid).schedule);
            std::set<std::string> texts;
            std::set<std::string_view> strategies;
            for (const Candidate& candidate : candidates) {
                CHECK(is_legal(check(f, candidate.schedule(), Target{}, kGrid)));
                CHECK(candidate.seconds_per_cell > 0.0);
                const std::string text = print(candidate.schedule(), rank);
                CHECK(texts.insert(text).second);
                CHECK(read(text, rank) == candidate.schedule());  // a store keeps the text
                strategies.insert(kind_of(candidate.schedule()).name);
            }
            CHECK(strategies.size() == (rank == 1 ? 2 : 3));
            CHECK(std::is_sorted(candidates.begin() + 1, candidates.end(),
                                 [](const Candidate& a, const Candidate& b) { return a.rank < b.rank; }));
        }
    }
}

TEST_CASE("what is pinned stays in every candidate", "[space]") {
    const Footprint f = footprint_of(sum_stencil(3, ir::Scalar::f32, star(3, 1)));
    const Pins pins = parse("direct threads=64x2x1", 3).pins;
    const std::vector<Candidate> candidates = list_candidates(f, Target{}, kGrid, pins);
    REQUIRE(candidates.size() > 10);
    for (const Candidate& candidate : candidates) {
        CHECK(std::holds_alternative<Direct>(candidate.schedule().strategy));
        CHECK(candidate.schedule().threads == halo::rt::Lengths{64, 2, 1});
    }
    const std::vector<Candidate> one =
        list_candidates(f, Target{}, kGrid, parse("direct threads=32x4x1 cells=4x1x1 min_blocks=4", 3).pins);
    CHECK(one.size() == 1);
}

TEST_CASE("the number of candidates of a strategy is bounded", "[space]") {
    const Footprint f = footprint_of(sum_stencil(3, ir::Scalar::f32, star(3, 1)));
    const std::vector<Candidate> candidates = list_candidates(f, Target{}, kGrid, {}, 10);
    CHECK(candidates.size() > 20);
    CHECK(candidates.size() <= 31);
}

TEST_CASE("where nothing can be chosen there are no candidates", "[space]") {
    Footprint f = footprint_of(sum_stencil(2, ir::Scalar::f32, star(2, 1)));
    f.in_place = true;
    CHECK(list_candidates(f, Target{}, kGrid).empty());
    f.in_place = false;
    f.at_points = true;
    CHECK(list_candidates(f, Target{}, kGrid).empty());
}

TEST_CASE("distance counts doublings, and settings that one schedule alone has", "[space]") {
    const Schedule a = read("direct threads=32x4x1 cells=4x2x4 min_blocks=4", 3);
    CHECK(apart(a, a) == 0);
    CHECK(apart(a, read("direct threads=64x4x1 cells=4x2x4 min_blocks=4", 3)) == 1);
    CHECK(apart(a, read("direct threads=64x2x1 cells=4x2x4 min_blocks=4", 3)) == 2);
    CHECK(apart(a, read("direct threads=32x4x1 cells=4x2x4", 3)) == 3);  // 1 and two doublings
    CHECK(apart(a, read("tile threads=32x4x1 cells=4x2x4 min_blocks=4", 3)) == INFINITY);
    const Schedule stream = read("stream threads=32x4 cells=4x2", 3),
                   far = read("stream threads=32x4 cells=4x2 planes=8", 3);
    CHECK(apart(stream, far) == 4);
    CHECK(apart(far, stream) == 4);
}

TEST_CASE("the plain schedule has one cell a thread", "[space]") {
    for (const int rank : {1, 2, 3}) {
        const Footprint f = footprint_of(sum_stencil(rank, ir::Scalar::f64, box(rank, 1)));
        const Schedule plain = plain_schedule(f, Target{});
        CHECK(std::holds_alternative<Direct>(plain.strategy));
        CHECK(plain.cells == halo::rt::Lengths{1, 1, 1});
        CHECK(is_legal(check(f, plain, Target{})));
        CHECK(steps_of({plain, 0, {}}) == 1);
    }
}

static const TemporalSchedule& temporal_of(const Candidate& candidate) {
    REQUIRE(candidate.grouping() != nullptr);
    return std::get<TemporalSchedule>(*candidate.grouping());
}

TEST_CASE("schedules for several steps are legal, each once, and begin with what would be chosen",
          "[space]") {
    for (const int rank : {2, 3}) {
        const ir::Program program = sum_stencil(rank, ir::Scalar::f32, star(rank, 1));
        const Extent grid = rank == 2 ? Extent{4096, 4096, 1} : Extent{512, 512, 512};
        const std::vector<Candidate> all = list_temporal_candidates(program, Target{}, grid).found;
        REQUIRE(all.size() > 100);
        CHECK(all.size() <= 1001);
        const TemporalChoice chosen = choose_temporal(program, Target{}, grid, TemporalPins{});
        REQUIRE(chosen.schedule);
        CHECK(temporal_of(all.front()) == *chosen.schedule);
        std::set<std::string> texts;
        std::set<int> steps, warps, ahead, unroll, blocks;
        for (const Candidate& candidate : all) {
            const TemporalSchedule& temporal = temporal_of(candidate);
            const std::string text = print(candidate, rank);
            CHECK(texts.insert(text).second);
            // A store keeps the text.
            TemporalPins pins = parse_temporal(text, rank).pins;
            pins.unroll = pins.unroll.value_or(1);
            pins.min_blocks = pins.min_blocks.value_or(1);
            CHECK(choose_temporal(program, Target{}, grid, pins).schedule == temporal);
            CHECK(candidate.seconds_per_cell > 0.0);
            CHECK(steps_of(candidate) == temporal.steps);
            steps.insert(temporal.steps);
            warps.insert(temporal.warps);
            ahead.insert(temporal.ahead);
            unroll.insert(temporal.unroll);
            blocks.insert(temporal.blocks);
        }
        CHECK(std::min({steps.size(), warps.size(), ahead.size(), unroll.size(), blocks.size()}) > 1);
        CHECK(std::is_sorted(all.begin(), all.end(),
                             [](const Candidate& a, const Candidate& b) { return a.rank < b.rank; }));
        Candidate twice = all.front(), single;
        std::get<TemporalSchedule>(std::get<Grouping>(twice.choice)).steps *= 2;
        CHECK(distance(place_of(all.front(), rank), place_of(twice, rank)) == Approx(1));
        CHECK(distance(place_of(all.front(), rank), place_of(single, rank)) == INFINITY);
    }
}

TEST_CASE("what is pinned of several steps stays, and what is in the way is said", "[space]") {
    const ir::Program program = sum_stencil(2, ir::Scalar::f32, star(2, 1));
    const Extent grid{4096, 4096, 1};
    const TemporalPins pins = parse_temporal("temporal steps=3 warps=2 cells=1 ahead=2", 2).pins;
    const std::vector<Candidate> all = list_temporal_candidates(program, Target{}, grid, pins).found;
    REQUIRE(all.size() > 5);
    for (const Candidate& candidate : all) {
        CHECK(temporal_of(candidate).steps == 3);
        CHECK(temporal_of(candidate).warps == 2);
        CHECK(temporal_of(candidate).cells == std::array<int, 2>{1, 1});
        CHECK(temporal_of(candidate).ahead == 2);
    }
    const TemporalCandidates none = list_temporal_candidates(program, Target{}, {16, 16, 1});
    CHECK(none.found.empty());
    CHECK(none.why_none.find("smaller than the tiles") != std::string::npos);
}
