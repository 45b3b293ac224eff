#include "compiler/schedule/shared_layout.h"
#include "catch.h"
#include "compiler/schedule/strategies.h"
#include "compiler/schedule/stream_plan.h"
#include "stencils.h"

using namespace halo;
using namespace halo::schedule;
using namespace halo::test;

namespace {

Schedule make_padded(Strategy strategy, halo::rt::Lengths threads, halo::rt::Lengths cells, int padding = 0) {
    Schedule schedule;
    schedule.strategy = strategy;
    schedule.threads = threads;
    schedule.cells = cells;
    set_own(schedule, Setting::padding, padding);
    return schedule;
}

int conflicts(const Footprint& f, const Schedule& schedule) {
    int sum = 0;
    for (const SharedAccess& access : shared_accesses(f, schedule, make_shared_layout(f, schedule))) {
        sum += access.conflicts();
    }
    return sum;
}

}  // namespace

TEST_CASE("a tile holds its halo, along x in whole vectors", "[layout]") {
    const Footprint f = footprint_of(sum_stencil(3, ir::Scalar::f32, star(3, 1)));
    const SharedLayout layout = make_shared_layout(f, make_padded(Tile{}, {32, 4, 1}, {1, 2, 4}));
    REQUIRE(layout.levels.size() == 1);
    const StagedLevel& u = layout.levels[0];
    CHECK(u.vector == 4);
    CHECK(u.low == decltype(u.low){4, 1, 1});
    CHECK(u.pitch == 40);
    CHECK(u.rows == 10);
    CHECK(u.planes == 6);
    CHECK(layout.bytes == 40 * 10 * 6 * 4);
    const SharedLayout odd = make_shared_layout(f, make_padded(Tile{}, {32, 4, 1}, {1, 2, 4}, 1));
    CHECK(odd.levels[0].vector == 1);  // rows start anywhere, so copies go cell by cell
    CHECK(odd.levels[0].pitch == 35);
    CHECK(make_shared_layout(f, make_padded(Direct{}, {32, 4, 1}, {4, 1, 1})).levels.empty());
}

TEST_CASE("stream has a ring of the planes that it loads from and of those on their way", "[layout]") {
    const Footprint star_f = footprint_of(sum_stencil(3, ir::Scalar::f32, star(3, 4)));
    Schedule schedule = make_padded(Stream{}, {32, 4, 1}, {4, 2, 1});
    set_own(schedule, Setting::ahead, 2);
    const SharedLayout plane = make_shared_layout(star_f, schedule);
    REQUIRE(plane.levels.size() == 1);
    CHECK(plane.levels[0].planes == 5 + 2);  // from that of the neighbours to that of the farthest own cells
    CHECK(plane.levels[0].rows == 8 + 8);
    CHECK(plane.levels[0].pitch == 160);  // cells and halo of a row, in whole lines of 128 bytes
    CHECK(plane.levels[0].origin == 32);
    CHECK(plane.levels[0].plane_elements == 16 * 160 + 32);
    CHECK(plane.levels[0].low[2] == 0);
    const Footprint box_f = footprint_of(sum_stencil(3, ir::Scalar::f64, box(3, 1)));
    schedule = make_padded(Stream{}, {32, 4, 1}, {2, 1, 1});
    set_own(schedule, Setting::ahead, 1);
    const SharedLayout ring = make_shared_layout(box_f, schedule);
    CHECK(ring.levels[0].planes == 1 + 1);  // the others are in registers
    CHECK(ring.levels[0].vector == 2);
    const Footprint flat = footprint_of(sum_stencil(2, ir::Scalar::f32, box(2, 1)));
    const SharedLayout rows = make_shared_layout(flat, make_padded(Stream{}, {32, 1, 1}, {4, 1, 1}));
    CHECK(rows.levels[0].rows == 1);
    CHECK(rows.levels[0].planes == 1 + 3);
    const Footprint column = footprint_of(sum_stencil(3, ir::Scalar::f32, line(2, 4)));
    const SharedLayout own = make_shared_layout(column, make_padded(Stream{}, {32, 4, 1}, {4, 1, 1}));
    CHECK(own.levels[0].rows == 4);  // no halo
    CHECK(own.levels[0].pitch == 128);
}

TEST_CASE("a thread that streams keeps its own cells, and its neighbours where planes share them",
          "[layout]") {
    const auto plan_of = [](ir::Scalar type, const std::vector<ir::Offset>& offsets,
                            halo::rt::Lengths cells) {
        const Footprint f = footprint_of(sum_stencil(3, type, offsets));
        return plan_stream(f.reads[0], 3, make_padded(Stream{}, {32, 4, 1}, cells));
    };
    const StreamPlan far = plan_of(ir::Scalar::f32, star(3, 4), {4, 2, 1});
    CHECK_FALSE(far.keeps_windows);
    CHECK(far.low == -4);
    CHECK(far.high == 4);
    CHECK(far.gathered == std::vector<int>{0});
    CHECK(far.arriving() == 5);
    CHECK(queue_words(far, ir::Scalar::f32) == 9 * 2 * 4);
    CHECK(gathered_words(far, ir::Scalar::f32) == 8 * 4 + 2 * 8);
    const StreamPlan box_plan = plan_of(ir::Scalar::f64, box(3, 1), {2, 2, 1});
    CHECK(box_plan.keeps_windows);
    CHECK(box_plan.gathered.empty());
    CHECK(box_plan.arriving() == 1);
    CHECK(queue_words(box_plan, ir::Scalar::f64) == 3 * 4 * 4 * 2);
    // Windows of five planes are more than a thread has registers for: each plane's is read anew.
    const StreamPlan wide = plan_of(ir::Scalar::f32, box(3, 2), {4, 2, 1});
    CHECK_FALSE(wide.keeps_windows);
    CHECK(wide.gathered.size() == 5);
    CHECK(wide.arriving() == 5);
    // Three to the left: a pair and one would be two loads, a vector is one.
    const StreamPlan left = plan_of(ir::Scalar::f32, {{-3, 0, 0}, {0, 0, 0}}, {4, 1, 1});
    REQUIRE(left.pieces.size() == 2);
    CHECK(left.pieces[0].column == -4);
    CHECK(left.pieces[0].width == 4);
}

TEST_CASE("a traversal is unrolled by the length of its queue where that is short enough", "[layout]") {
    const auto factor = [](int radius, halo::rt::Lengths cells) {
        const Footprint f = footprint_of(sum_stencil(3, ir::Scalar::f32, star(3, radius)));
        return unroll_factor(f, make_padded(Stream{}, {32, 4, 1}, cells));
    };
    CHECK(factor(1, {4, 2, 1}) == 3);
    CHECK(factor(2, {4, 1, 1}) == 5);
    Schedule asked = make_padded(Stream{}, {32, 4, 1}, {4, 2, 1});
    set_own(asked, Setting::unroll, 2);
    CHECK(unroll_factor(footprint_of(sum_stencil(3, ir::Scalar::f32, star(3, 1))), asked) == 2);
}

TEST_CASE("levels read in place alone are not staged", "[layout]") {
    const Footprint f = footprint_of(sum_stencil(2, ir::Scalar::f32, {{0, 0, 0}}));
    CHECK(make_shared_layout(f, make_padded(Tile{}, {32, 8, 1}, {1, 1, 1})).levels.empty());
    CHECK(choose_padding(f, make_padded(Tile{}, {32, 8, 1}, {1, 1, 1})).elements == 0);
}

TEST_CASE("bank conflicts are counted exactly", "[layout]") {
    const Footprint f = footprint_of(sum_stencil(2, ir::Scalar::f32, star(2, 1)));
    // Full rows of a warp: none. Two rows of 16 threads, 24 apart: banks 0..15 and 24..39, 8 of them twice.
    CHECK(conflicts(f, make_padded(Tile{}, {32, 4, 1}, {1, 1, 1})) == 0);
    const Schedule halves = make_padded(Tile{}, {16, 8, 1}, {1, 1, 1});
    CHECK(make_shared_layout(f, halves).levels[0].pitch == 24);
    CHECK(conflicts(f, halves) == 5);  // one more pass for each of the five reads
    // Columns of 32 rows, 32 + 8 apart: 4 rows to a bank.
    const Schedule column = make_padded(Tile{}, {1, 32, 1}, {32, 1, 1});
    const std::vector<SharedAccess> accesses = shared_accesses(f, column, make_shared_layout(f, column));
    REQUIRE(accesses.size() == 5);
    CHECK(accesses[0].passes == 8);
    CHECK(accesses[0].least == 1);
}

TEST_CASE("wide accesses go by halves and quarters of a warp", "[layout]") {
    const Footprint wide = footprint_of(sum_stencil(2, ir::Scalar::f64, star(2, 1)));
    const Schedule scalar = make_padded(Tile{}, {32, 4, 1}, {1, 1, 1});
    const std::vector<SharedAccess> reads = shared_accesses(wide, scalar, make_shared_layout(wide, scalar));
    REQUIRE(reads.size() == 5);
    CHECK(reads[0].passes == 2);
    CHECK(reads[0].least == 2);
    const Footprint narrow = footprint_of(sum_stencil(3, ir::Scalar::f32, star(3, 1)));
    const Schedule vectors = make_padded(Stream{}, {32, 4, 1}, {4, 1, 1});
    const std::vector<SharedAccess> quads =
        shared_accesses(narrow, vectors, make_shared_layout(narrow, vectors));
    CHECK(quads.size() == 3 + 2);  // x-1, the vector itself, x+4; vectors at y-1, y+1
    for (const SharedAccess& access : quads) {
        CHECK(access.width == (access.offset[0] == 0 ? 4 : 1));
        CHECK(access.passes == 4);  // single elements of a warp lie four banks apart
        CHECK(access.conflicts() == (access.width == 4 ? 0 : 3));
    }
}

TEST_CASE("padding takes conflicts away, says so, and is left out where there are none", "[layout]") {
    const Footprint f = footprint_of(sum_stencil(2, ir::Scalar::f32, star(2, 1)));
    const Padding none = choose_padding(f, make_padded(Tile{}, {32, 4, 1}, {1, 1, 1}));
    CHECK(none.elements == 0);
    CHECK(none.reason.find("no padding") == 0);
    Schedule halves = make_padded(Tile{}, {16, 8, 1}, {1, 1, 1});
    const Padding some = choose_padding(f, halves);
    CHECK(some.elements == 24);  // pitch 48: the second row in the other half of the banks
    CHECK(some.reason.find("0 bank conflicts in place of 5") != std::string::npos);
    set_own(halves, Setting::padding, some.elements);
    CHECK(conflicts(f, halves) == 0);
}

TEST_CASE("the picture marks halo, cells and padding", "[layout]") {
    const ir::Program program = sum_stencil(2, ir::Scalar::f32, star(2, 1));
    const Footprint f = footprint_of(program);
    const SharedLayout layout = make_shared_layout(f, make_padded(Tile{}, {8, 2, 1}, {1, 1, 1}, 4));
    CHECK(draw(program, layout.levels[0]) ==
          "u: 4 rows of 20 f32, 320 bytes\n"
          "  columns: 4 halo, 8 cells, 4 halo, 4 padding\n"
          "  y = -1    hhhh|hhhhhhhh|hhhh|....\n"
          "  y = 0     hhhh|########|hhhh|....\n"
          "  y = 1     hhhh|########|hhhh|....\n"
          "  y = 2     hhhh|hhhhhhhh|hhhh|....\n");
}
