// How a grid is divided among the blocks of a kernel for several steps.
#include "compiler/schedule/temporal.h"
#include "catch.h"
#include "compiler/schedule/groupings.h"
#include "stencils.h"

using namespace halo;
using namespace halo::schedule;
using namespace halo::test;

namespace {

std::int64_t tiles(const ir::Program& program, const TemporalSchedule& schedule, const Extent& extent) {
    const auto pipeline = std::get<Pipeline>(form_pipeline(program, schedule.steps));
    const auto shape = std::get<TemporalShape>(temporal_shape(program, pipeline, schedule, Target{}));
    return tiles_of(pipeline, shape, extent);
}

}  // namespace

TEST_CASE("blocks traverse parts of columns where their number is a multiple, in more than one wave") {
    const ir::Program program = sum_stencil(3, ir::Scalar::f32, star(3, 1));
    TemporalSchedule schedule;
    schedule.warps = 8;
    schedule.cells = {4, 4};
    schedule.unroll = 2;
    const Extent large{1024, 1024, 512}, small{256, 128, 512};
    const auto traversals = [&](const Extent& extent, int blocks) {
        schedule.blocks = blocks;
        return traversals_of_column(program, schedule, Target{}, extent);
    };
    const auto columns = static_cast<int>(tiles(program, schedule, large));
    REQUIRE(columns == 387);
    CHECK(traversals(large, columns) == 1);
    CHECK(traversals(large, 2 * columns) == 2);
    CHECK(traversals(large, 3 * columns) == 3);
    CHECK(traversals(large, 2 * columns + 1) == 0);
    CHECK(traversals(large, 132) == 0);
    // Fewer than there are SMs begin together.
    const auto few = static_cast<int>(tiles(program, schedule, small));
    REQUIRE(few < 66);
    CHECK(traversals(small, 2 * few) == 0);
}

TEST_CASE("in two dimensions warps traverse parts of columns, and few of the last blocks' stay idle") {
    const ir::Program program = sum_stencil(2, ir::Scalar::f32, star(2, 1));
    TemporalSchedule schedule;
    schedule.warps = 4;
    schedule.cells = {4, 1};
    const int most_left = kMostIdleBlocks * schedule.warps - 1;
    for (const std::int64_t width : {4096, 5000, 8192}) {
        const Extent extent{width, 65536, 1};
        const auto columns = static_cast<int>(tiles(program, schedule, extent));
        REQUIRE(columns > most_left);
        INFO(columns << " columns");
        for (const int parts : {16, 19, 20, 23}) {
            const int all = (parts * columns + 3) / 4;
            schedule.blocks = all;
            CHECK(traversals_of_column(program, schedule, Target{}, extent) == parts);
            // Launches of some of them, as sessions make them, leave no more.
            for (int launched = 1; launched <= parts; ++launched) {
                const int warps = 4 * ((all * launched + parts - 1) / parts);
                CHECK(warps >= launched * columns);
                CHECK(warps - launched * columns <= most_left);
            }
            schedule.blocks = all + 2;
            CHECK(traversals_of_column(program, schedule, Target{}, extent) == 0);
        }
    }
}

TEST_CASE(
    "of traversals that all start together two are left to borders where that lengthens the others little") {
    const ir::Program program = sum_stencil(2, ir::Scalar::f32, star(2, 1));
    TemporalSchedule schedule;
    schedule.cells = {4, 1};
    schedule.warps = 4;
    const auto traversals = [&](std::int64_t rows, int parts, int min_blocks) {
        const Extent extent{4096, rows, 1};
        schedule.min_blocks = min_blocks;
        schedule.blocks = static_cast<int>((parts * tiles(program, schedule, extent) + 3) / 4);
        const bool together = schedule.blocks <= Target{}.sms * min_blocks;
        CHECK(together == (min_blocks > 1));
        return traversals_of_column(program, schedule, Target{}, extent);
    };
    CHECK(traversals(4096, 14, 4) == 0);  // of 293 rows each; 341 where two are left
    CHECK(traversals(4096, 40, 4) == 40);
    CHECK(traversals(512, 14, 4) == 14);
    CHECK(traversals(512, 2, 4) == 0);
    CHECK(traversals(4096, 18, 4) == 0);
    CHECK(traversals(4096, 18, 1) == 18);  // not all together
}

TEST_CASE("of steps in a row that are alike few are left to single steps") {
    const ir::Program program = sum_stencil(2, ir::Scalar::f32, star(2, 1));
    const auto steps_chosen = [&](std::int64_t alike, std::optional<std::string> pinned = std::nullopt) {
        const GroupingRequest request{program, Target{}, {8192, 8192, 1}, std::move(pinned), {}, alike};
        const GroupingChoice choice = find_grouping("temporal")->choose(request);
        return choice.grouping ? std::get<TemporalSchedule>(*choice.grouping).steps : 0;
    };
    for (const std::int64_t alike : {1, 2, 3, 7, 9, 17, 99}) {
        const int steps = steps_chosen(alike);
        INFO(alike << " alike, " << steps << " at once");
        CHECK((steps >= 1 && steps <= alike));
        CHECK(alike % steps <= alike / 8);
        CHECK((alike < 2 || steps > 1));
    }
    CHECK(steps_chosen(0) == 0);
    CHECK(steps_chosen(3, "steps=8") == 8);
    CHECK(steps_chosen(kManySteps) >= 8);
}

TEST_CASE("in two dimensions parts of tiles are chosen, whatever a block's warps make of them") {
    const ir::Program program = sum_stencil(2, ir::Scalar::f32, star(2, 1));
    for (const std::int64_t width : {1000, 2048, 2560, 3000, 4096, 12000, 16384}) {
        const Extent extent{width, width, 1};
        TemporalPins pins;
        pins.steps = 8;
        const TemporalChoice choice = choose_temporal(program, Target{}, extent, pins);
        REQUIRE(choice.schedule);
        const auto formed = form_pipeline(program, choice.schedule->steps);
        INFO(width << ": " << choice.schedule->blocks << " blocks");
        CHECK(parts_of_tile(std::get<Pipeline>(formed), *choice.schedule,
                            tiles(program, *choice.schedule, extent)) > 0);
    }
}
