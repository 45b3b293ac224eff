#include "compiler/schedule/defaults.h"
#include "catch.h"
#include "compiler/schedule/cost.h"
#include "compiler/schedule/print.h"
#include "compiler/schedule/registers.h"
#include "compiler/schedule/strategies.h"
#include "stencils.h"

using namespace halo;
using namespace halo::schedule;
using namespace halo::test;

namespace {

std::string chosen(int rank, ir::Scalar type, const std::vector<ir::Offset>& offsets,
                   const std::optional<Extent>& extent = std::nullopt, const std::string& pins = "") {
    const Footprint f = footprint_of(sum_stencil(rank, type, offsets));
    return print(choose(f, Target{}, extent, parse(pins, rank).pins).schedule, rank);
}

}  // namespace

TEST_CASE("large sweeps get the register tiles that were measured best", "[defaults]") {
    CHECK(chosen(2, ir::Scalar::f32, star(2, 1)) == "direct threads=128x2 cells=4x4 min_blocks=2");
    CHECK(chosen(2, ir::Scalar::f64, star(2, 1)) == "direct threads=128x2 cells=2x4 min_blocks=2");
    CHECK(chosen(3, ir::Scalar::f32, star(3, 1)) == "direct threads=32x4x1 cells=4x2x4 min_blocks=4");
    CHECK(chosen(3, ir::Scalar::f64, star(3, 1)) == "direct threads=32x4x1 cells=2x2x4 min_blocks=4");
    CHECK(chosen(3, ir::Scalar::f32, line(0, 4)) == "direct threads=32x4x1 cells=4x1x1 min_blocks=9");
    CHECK(chosen(1, ir::Scalar::f32, star(1, 1)) == "direct threads=256 cells=4 min_blocks=5");
}

TEST_CASE("cells are shared along the axes that are read", "[defaults]") {
    const Footprint y = footprint_of(sum_stencil(3, ir::Scalar::f32, line(1, 4)));
    const Schedule along_y = choose(y, Target{}).schedule;
    CHECK(along_y.cells[1] > 1);
    CHECK(along_y.cells[2] == 1);
    const Footprint z = footprint_of(sum_stencil(3, ir::Scalar::f32, line(2, 4)));
    const Schedule along_z = choose(z, Target{}).schedule;
    CHECK(along_z.cells[1] == 1);
    CHECK(along_z.cells[2] > 1);
}

// Measured on an H200, 512³, relative to the speed of a copy: a star of large radius reaches 45 % by direct
// and 81 % by stream, one of radius 1 91 and 85 %, boxes of 27 points 74 and 85 %.
TEST_CASE("stars of large radius and boxes run by stream on a large grid, small stars by direct",
          "[defaults]") {
    for (const ir::Scalar type : {ir::Scalar::f32, ir::Scalar::f64}) {
        const auto strategy_of = [&](const std::vector<ir::Offset>& offsets) {
            return kind_of(choose(footprint_of(sum_stencil(3, type, offsets)), Target{}).schedule).name;
        };
        CHECK(strategy_of(star(3, 1)) == "direct");
        CHECK(strategy_of(star(3, 2)) == "stream");
        CHECK(strategy_of(star(3, 4)) == "stream");
        CHECK(strategy_of(box(3, 1)) == "stream");
        CHECK(strategy_of(line(2, 4)) == "direct");
    }
    const Footprint f = footprint_of(sum_stencil(3, ir::Scalar::f32, star(3, 4)));
    const Choice choice = choose(f, Target{});
    CHECK(choice.reason.find("a star of radius 4") != std::string::npos);
    CHECK(choice.reason.find("on their way") != std::string::npos);
    CHECK(own_setting(choice.schedule, Setting::ahead) > 1);
    const Schedule small = choose(f, Target{}, Extent{64, 64, 64}).schedule;  // too few blocks to stream
    CHECK(std::holds_alternative<Direct>(small.strategy));
}

TEST_CASE("traversals are as long as an even share of the grid", "[defaults]") {
    const Footprint f = footprint_of(sum_stencil(3, ir::Scalar::f32, star(3, 4)));
    Schedule schedule;
    schedule.strategy = Stream{};
    schedule.threads = {32, 8, 1};
    schedule.cells = {4, 4, 1};
    schedule.min_blocks = 1;
    // 64 tiles: two shares of each are 128 blocks for 132 SMs.
    const auto lengths = [&](const Extent& grid) {
        const Target target;
        const Pins none;
        const std::optional<Extent> extent = grid;
        std::vector<int> planes;
        for (const Schedule& shared : kind_of(schedule).share_out(schedule, {f, target, extent, grid, none}))
            planes.push_back(std::get<Stream>(shared.strategy).planes);
        return planes;
    };
    CHECK(lengths({512, 512, 512}) == std::vector<int>{128, 86, 64, 256, 0});
    CHECK(lengths({128, 32, 10}) == std::vector<int>{1, 0});
    CHECK(lengths({4096, 4096, 512}) == std::vector<int>{0});
}

TEST_CASE("layers of blocks that share planes are as thin as the L2 cache is small", "[defaults]") {
    const Footprint f = footprint_of(sum_stencil(3, ir::Scalar::f32, star(3, 1)));
    Schedule thick, thin;
    thick.threads = thin.threads = {32, 8, 1};
    thick.cells = {4, 2, 4};
    thin.cells = {4, 4, 2};
    thick.min_blocks = thin.min_blocks = 2;
    const auto seconds = [&](const Schedule& schedule, std::int64_t n) {
        return estimate_cost(f, schedule, Target{}, {n, n, n}).seconds_per_cell;
    };
    CHECK(seconds(thick, 512) < seconds(thin, 512));
    CHECK(seconds(thick, 1024) > seconds(thin, 1024));
}

TEST_CASE("a block goes through a plane of two axes, and its fronts wait for each other", "[defaults]") {
    ir::Program program = sum_stencil(3, ir::Scalar::f64, star(3, 1));
    ir::LineSweep order{2, true, 0};
    order.inner = {0, true};
    std::get<ir::Assign>(program.statements.front()).sweep = order;
    const Footprint f = footprint_of(program);
    CHECK(f.sweeps_along(0));
    CHECK_FALSE(f.sweeps_along(1));
    CHECK(f.slant == 1);
    const Extent planes{2000, 40, 2000};
    const Schedule schedule = choose(f, Target{}, planes).schedule;
    CHECK(is_legal(check(f, schedule, Target{}, planes)));
    CHECK(schedule.threads[1] == 1);
    CHECK(schedule.threads[0] >= 256);
    const Cost cost = estimate_cost(f, schedule, Target{}, planes);
    CHECK(cost.blocks == 40);
    CHECK(cost.bound == Bound::front);
    const double seconds = cost.seconds_per_cell * 2000 * 2000 * 40;
    CHECK(seconds > 4000 * 1e-6);  // as many fronts
    CHECK(seconds < 4000 * 4e-6);
    Schedule across = schedule;
    across.threads = {32, 8, 1};
    CHECK_FALSE(is_legal(check(f, across, Target{}, planes)));
}

TEST_CASE("small grids are spread over the device", "[defaults]") {
    const Footprint f = footprint_of(sum_stencil(3, ir::Scalar::f32, star(3, 1)));
    const Extent small{64, 64, 64};
    const Schedule schedule = choose(f, Target{}, small).schedule;
    const Cost cost = estimate_cost(f, schedule, Target{}, small);
    CHECK(cost.blocks >= 132);
    CHECK(schedule.tile(0) <= 64);  // no threads past the edge
    CHECK(schedule.cells[0] * schedule.cells[1] * schedule.cells[2] < 32);
}

TEST_CASE("every choice is legal, whatever the stencil and the grid", "[defaults]") {
    const Target target;
    for (int rank = 1; rank <= 3; ++rank) {
        for (const ir::Scalar type : {ir::Scalar::f32, ir::Scalar::f64}) {
            for (int radius = 0; radius <= 4; ++radius) {
                for (const bool is_box : {false, true}) {
                    const Footprint f = footprint_of(
                        sum_stencil(rank, type, is_box ? box(rank, radius) : star(rank, radius)));
                    for (const std::int64_t n : {0, 1, 3, 33, 100, 257, 1000, 300000}) {
                        const std::int64_t y = std::min<std::int64_t>(n, rank == 3 ? 2000 : 300000);
                        const std::int64_t z = std::min<std::int64_t>(n, 2000);
                        const Extent extent{n, rank > 1 ? y : 1, rank > 2 ? z : 1};
                        const std::optional<Extent> given = n == 0 ? std::nullopt : std::optional(extent);
                        const Choice choice = choose(f, target, given);
                        INFO("rank " << rank << " radius " << radius << " box " << is_box << " n " << n
                                     << ": " << print(choice.schedule, rank));
                        CHECK(is_legal(check(f, choice.schedule, target, given)));
                        CHECK_FALSE(choice.reason.empty());
                    }
                }
            }
        }
    }
}

TEST_CASE("what is pinned stays and the rest is chosen around it", "[defaults]") {
    const auto heat = star(3, 1);
    CHECK(chosen(3, ir::Scalar::f32, heat, {}, "tile").starts_with("tile "));
    CHECK(chosen(3, ir::Scalar::f32, heat, {}, "stream threads=64x4")
              .starts_with("stream threads=64x4 cells="));
    CHECK(chosen(3, ir::Scalar::f32, heat, {}, "planes=16").starts_with("stream "));
    CHECK(chosen(3, ir::Scalar::f32, heat, {}, "cells=1x1x1").find("cells=1x1x1") != std::string::npos);
    CHECK(chosen(3, ir::Scalar::f32, heat, {}, "direct threads=32x2x2 cells=4x1x2 min_blocks=3") ==
          "direct threads=32x2x2 cells=4x1x2 min_blocks=3");
    const Footprint f = footprint_of(sum_stencil(3, ir::Scalar::f32, heat));
    const Schedule tiled = choose(f, Target{}, {}, parse("direct tile=64x6x6", 3).pins).schedule;
    CHECK(tiled.tile(0) == 64);
    CHECK(tiled.tile(1) == 6);
    CHECK(tiled.tile(2) == 6);
    CHECK(is_legal(check(f, tiled, Target{})));
}

TEST_CASE("pins that cannot be built come back as they are", "[defaults]") {
    const Footprint f = footprint_of(sum_stencil(3, ir::Scalar::f32, star(3, 1)));
    const Schedule schedule =
        choose(f, Target{}, {}, parse("direct threads=64x32 cells=4x1x1", 3).pins).schedule;
    CHECK(schedule.threads == halo::rt::Lengths{64, 32, 1});
    CHECK_FALSE(is_legal(check(f, schedule, Target{})));
}

TEST_CASE("the register window of a star and of a box", "[defaults]") {
    const Footprint f = footprint_of(sum_stencil(3, ir::Scalar::f32, star(3, 1)));
    const Window window_of_star = window(f.reads[0], {4, 2, 4});
    CHECK(window_of_star.elements == 32 + 16 + 32 + 16);  // own, and the faces along x, y and z
    CHECK(window_of_star.shared_by_cells == 32);
    const Footprint b = footprint_of(sum_stencil(3, ir::Scalar::f32, box(3, 1)));
    CHECK(window(b.reads[0], {4, 2, 4}).elements == 6 * 4 * 6);
    CHECK(window(b.reads[0], {1, 1, 1}).shared_by_cells == 0);
}
