#include "compiler/schedule/legality.h"
#include "catch.h"
#include "compiler/schedule/defaults.h"
#include "compiler/schedule/registers.h"
#include "compiler/schedule/strategies.h"
#include "stencils.h"

using namespace halo;
using namespace halo::schedule;
using namespace halo::test;

namespace {

Schedule make(Strategy strategy, halo::rt::Lengths threads, halo::rt::Lengths cells) {
    Schedule schedule;
    schedule.strategy = strategy;
    schedule.threads = threads;
    schedule.cells = cells;
    return schedule;
}

std::string first_limit(const ir::Program& program, const Schedule& schedule,
                        const std::optional<Extent>& extent = std::nullopt, const Pins& pins = {}) {
    const std::vector<Reason> reasons =
        check(program, ir::form_stages(program).front(), schedule, Target{}, extent, pins);
    return reasons.empty() || !reasons.front().limit ? "" : reasons.front().text;
}

bool has(const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("good schedules have nothing against them", "[legality]") {
    const ir::Program heat = sum_stencil(3, ir::Scalar::f32, star(3, 1));
    CHECK(first_limit(heat, make(Direct{}, {32, 4, 1}, {4, 2, 4})).empty());
    CHECK(first_limit(heat, make(Tile{}, {32, 8, 1}, {1, 1, 4})).empty());
    CHECK(first_limit(heat, make(Stream{}, {32, 8, 1}, {4, 1, 1})).empty());
    const std::vector<Reason> ragged =
        check(footprint_of(heat), make(Direct{}, {20, 3, 1}, {1, 1, 1}), Target{});
    REQUIRE(ragged.size() == 1);
    CHECK_FALSE(ragged[0].limit);
    CHECK(is_legal(ragged));
    has(ragged[0].text, "60 threads a block are no multiple of the 32 of a warp");
}

TEST_CASE("limits of the shape name both figures", "[legality]") {
    const ir::Program heat = sum_stencil(3, ir::Scalar::f32, star(3, 1));
    has(first_limit(heat, make(Direct{}, {64, 32, 1}, {1, 1, 1})), "2,048 a block; sm_90 allows 1,024");
    has(first_limit(heat, make(Direct{}, {4, 1, 128}, {1, 1, 1})),
        "128 threads along the third axis; sm_90 allows 64");
    has(first_limit(heat, make(Direct{}, {32, 1, 1}, {4, 8, 8})), "256 a thread; direct allows 128");
    has(first_limit(heat, make(Direct{}, {32, 1, 1}, {3, 1, 1})), "of 1, 2 or 4; not 3");
    has(first_limit(heat, make(Direct{}, {32, 1, 1}, {8, 1, 1})), "of 1, 2 or 4; not 8");
    const ir::Program flat = sum_stencil(2, ir::Scalar::f32, star(2, 1));
    has(first_limit(flat, make(Direct{}, {32, 2, 2}, {1, 1, 1})),
        "2 threads along the third axis: the program has 2 axes");
    has(first_limit(heat, make(Stream{}, {32, 2, 2}, {1, 1, 1})), "stream traverses that axis");
    const ir::Program line_program = sum_stencil(1, ir::Scalar::f32, star(1, 1));
    has(first_limit(line_program, make(Stream{}, {32, 1, 1}, {1, 1, 1})), "this program has 1 axis");
}

TEST_CASE("a stage with a reduction needs whole warps", "[legality]") {
    ir::Program program = sum_stencil(2, ir::Scalar::f32, star(2, 1));
    CHECK(first_limit(program, make(Direct{}, {20, 3, 1}, {1, 1, 1})).empty());
    ir::Reduce reduce;
    reduce.name = "total";
    reduce.value = std::get<ir::Assign>(program.statements[0]).value;
    program.statements.push_back(reduce);
    has(first_limit(program, make(Direct{}, {20, 3, 1}, {1, 1, 1})),
        "60 threads a block are no multiple of the 32");
    CHECK(first_limit(program, make(Direct{}, {16, 4, 1}, {1, 1, 1})).empty());
}

TEST_CASE("settings of another strategy are refused", "[legality]") {
    const ir::Program heat = sum_stencil(3, ir::Scalar::f32, star(3, 1));
    const auto refused = [&](const char* text) {
        const Pins pins = parse(text, 3).pins;
        return first_limit(heat, apply(pins, make(Direct{}, {32, 4, 1}, {4, 1, 1})), std::nullopt, pins);
    };
    has(refused("direct planes=8"), "only stream traverses planes; a direct schedule has none to count");
    has(refused("tile ahead=2"), "only stream has planes on their way");
    has(refused("tile unroll=2"), "only stream has iterations of a traversal");
    has(refused("direct padding=1"), "direct keeps nothing in shared memory");
    has(refused("stream chunk=2"),
        "only direct sums over tables, by chunks of their rows; stream has no chunks");
    has(refused("stream threads=32x4x1 cells=4 padding=1"), "padding must be a multiple of 4; it is 1");
    CHECK(refused("stream threads=32x4x1 cells=4 padding=8") == "");
    CHECK(refused("tile threads=32x4x1 cells=1 padding=1") == "");
}

TEST_CASE("shared memory is limited a block and an SM", "[legality]") {
    const ir::Program heat = sum_stencil(3, ir::Scalar::f64, star(3, 1));
    // 34 * 34 * (32 + 2 * 2) f64 of 8 bytes, halo along x rounded to vectors of two
    has(first_limit(heat, make(Tile{}, {32, 8, 1}, {1, 4, 32})),
        "need 332,928 bytes of shared memory; sm_90 allows 232,448 a block");
    Schedule schedule = make(Tile{}, {32, 8, 1}, {1, 2, 8});
    CHECK(first_limit(heat, schedule).empty());
    schedule.min_blocks = 5;  // 18 * 10 * 36 * 8 = 51,840 bytes each
    has(first_limit(heat, schedule),
        "5 blocks of 51,840 bytes of shared memory need 264,320 an SM; sm_90 has 233,472");
}

TEST_CASE("registers are limited a thread and an SM", "[legality]") {
    const ir::Program heat = sum_stencil(3, ir::Scalar::f64, star(3, 4));
    has(first_limit(heat, make(Direct{}, {32, 4, 1}, {4, 4, 4})), "sm_90 has 255 a thread");
    const ir::Program light = sum_stencil(3, ir::Scalar::f32, star(3, 1));
    Schedule schedule = make(Direct{}, {32, 8, 1}, {4, 4, 4});
    CHECK(first_limit(light, schedule).empty());
    schedule.min_blocks = 4;
    has(first_limit(light, schedule), "4 blocks of 256 threads leave 64 registers a thread");
    schedule.min_blocks = 9;
    has(first_limit(light, schedule),
        "9 blocks of 256 threads are 2,304 threads an SM; sm_90 runs at most 2,048");
    schedule.min_blocks = 40;
    has(first_limit(light, schedule), "40 blocks an SM; sm_90 runs at most 32");
    CHECK(register_limit(make(Direct{}, {256, 1, 1}, {1, 1, 1}), Target{}) == 255);
    CHECK(register_limit(make(Direct{}, {1024, 1, 1}, {1, 1, 1}), Target{}) == 64);
}

TEST_CASE("the grid is limited along the second and third axis", "[legality]") {
    const ir::Program flat = sum_stencil(2, ir::Scalar::f32, star(2, 1));
    const Schedule schedule = make(Direct{}, {128, 2, 1}, {4, 1, 1});
    CHECK(first_limit(flat, schedule, Extent{1 << 20, 100000, 1}).empty());
    has(first_limit(flat, schedule, Extent{64, 200000, 1}),
        "200,000 cells along the second axis are 100,000 blocks of 2; sm_90 allows 65,535");
    Schedule stream = make(Stream{}, {128, 1, 1}, {4, 1, 1});
    CHECK(first_limit(flat, stream, Extent{64, 200000, 1}).empty());
    set_own(stream, Setting::planes, 2);
    has(first_limit(flat, stream, Extent{64, 200000, 1}), "100,000 blocks of 2");
}

TEST_CASE("hostile lengths are refused without overflow", "[legality]") {
    const ir::Program heat = sum_stencil(3, ir::Scalar::f64, box(3, 4));
    const int huge = 1 << 15;
    for (const Strategy& strategy : std::vector<Strategy>{Direct{}, Tile{}, Stream{}}) {
        CHECK_FALSE(first_limit(heat, make(strategy, {huge, huge, huge}, {huge, huge, huge})).empty());
        CHECK_FALSE(first_limit(heat, make(strategy, {1, 1, 1}, {huge, 1, 1})).empty());
        CHECK_FALSE(first_limit(heat, make(strategy, {0, 1, 1}, {1, 0, 1})).empty());
    }
}

TEST_CASE("components side by side are read by direct, one by one", "[legality]") {
    ir::Program program = sum_stencil(2, ir::Scalar::f32, star(2, 1));
    ir::Group group;
    group.name = "v";
    group.members = {"0"};
    group.fields = {ir::FieldId{0}};
    group.interleaved = true;
    program.groups.push_back(group);
    CHECK(first_limit(program, make(Direct{}, {32, 4, 1}, {1, 2, 1})).empty());
    has(first_limit(program, make(Direct{}, {32, 4, 1}, {4, 1, 1})), "give 1 along the first axis");
    has(first_limit(program, make(Tile{}, {32, 4, 1}, {1, 1, 1})), "direct reads them where they are");
    has(first_limit(program, make(Stream{}, {32, 1, 1}, {1, 1, 1})), "direct reads them");
    const Choice choice = choose(footprint_of(program), Target{}, std::nullopt, Pins{});
    CHECK(std::holds_alternative<Direct>(choice.schedule.strategy));
    CHECK(choice.schedule.cells[0] == 1);
}
