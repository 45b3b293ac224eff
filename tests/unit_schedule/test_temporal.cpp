// How a grid is shared out among the blocks of a kernel that does several steps.
#include "catch.h"
#include "compiler/schedule/temporal.h"
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

TEST_CASE("blocks walk columns where they are so many times as many, in more than one wave") {
    const ir::Program program = sum_stencil(3, ir::Scalar::f32, star(3, 1));
    TemporalSchedule schedule;
    schedule.warps = 8;
    schedule.cells = {4, 4};
    schedule.unroll = 2;
    const Extent large{1024, 1024, 512}, small{256, 128, 512};
    const auto walks = [&](const Extent& extent, int blocks) {
        schedule.blocks = blocks;
        return walks_of_column(program, schedule, Target{}, extent);
    };
    const auto columns = static_cast<int>(tiles(program, schedule, large));
    REQUIRE(columns == 387);
    CHECK(walks(large, columns) == 1);
    CHECK(walks(large, 2 * columns) == 2);
    CHECK(walks(large, 3 * columns) == 3);
    CHECK(walks(large, 2 * columns + 1) == 0);
    CHECK(walks(large, 132) == 0);
    // Fewer than there are SMs begin together.
    const auto few = static_cast<int>(tiles(program, schedule, small));
    REQUIRE(few < 66);
    CHECK(walks(small, 2 * few) == 0);
}

TEST_CASE("in two dimensions warps walk, and parts of them make no whole blocks everywhere") {
    const ir::Program program = sum_stencil(2, ir::Scalar::f32, star(2, 1));
    TemporalSchedule schedule;
    schedule.warps = 4;
    schedule.cells = {4, 1};
    for (const std::int64_t width : {4096, 5000, 8192}) {
        const Extent extent{width, 65536, 1};
        const auto columns = static_cast<int>(tiles(program, schedule, extent));
        INFO(columns << " columns");
        for (const int parts : {16, 20}) {
            schedule.blocks = parts * columns / 4;
            CHECK(walks_of_column(program, schedule, Target{}, extent) == (columns % 4 == 0 ? parts : 0));
        }
    }
}
