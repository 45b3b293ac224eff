// Time loops whose grid stays on the chip, on emulated CUDA: blocks take turns and wait for each other's
// cells.
#include <filesystem>

#include <span>

#include "analyzed.h"
#include "catch.h"
#include "compare_engines.h"
#include "compiler/emit/emit.h"
#include "compiler/lower/fixed_grid.h"
#include "emulated_device.h"
#include "emulator.h"
#include "random_time_loop.h"
#include "read_spec.h"

using namespace halo;
using namespace halo::test;

namespace {

// A device on which no blocks can wait for each other.
class LonelyDevice : public emulator::EmulatedDevice {
public:
    std::int64_t most_resident_blocks(rt::Kernel&) override { return 1; }
};

std::vector<double> waves(rt::Device& device, const lower::Lowered& lowered, std::int64_t first,
                          std::int64_t second) {
    rt::Session session(lowered.plan, {19, 11, 1}, device, load_cuda(lowered, device));
    std::vector<double> u(19 * 11);
    for (std::size_t n = 0; n < u.size(); ++n)
        u[n] = static_cast<double>(n * n % 37);
    session.upload("u", 0, std::span<const double>(u));
    session.upload("u", -1, std::span<const double>(u));
    session.step(first);
    session.step(second);
    CHECK(session.steps_done() == first + second);
    std::vector<double> both = session.download("u", 0);
    for (const double value : session.download("u", -1))
        both.push_back(value);
    return both;
}

}  // namespace

// Most of the time is LLVM's: many texts run once each, on few cells.
[[maybe_unused]] const int kOptimization = halo::emulator::CudaModule::optimization = 0;

TEST_CASE("a launch for each call, or single steps where blocks cannot wait for each other") {
    const ir::Program program = load_program(R"(
        stencil waves(x, y) {
            field u: f32 { boundary x periodic, y mirror }
            u[t+1] = 2*u - u[t-1] + 1/8*(u[x-1] + u[x+1] + u[y-1] + u[y+1] - 4*u)
        })");
    RandomResident drawn;
    drawn.schedule.threads = {8, 4, 1};
    drawn.grid = {19, 11, 1};
    const std::optional<lower::Lowered> lowered = lower_resident(program, drawn);
    REQUIRE(lowered.has_value());
    emulator::EmulatedDevice device;
    const std::vector<double> together = waves(device, *lowered, 6, 1);
    CHECK(device.launches() == 2);
    emulator::EmulatedDevice again;
    CHECK(waves(again, *lowered, 3, 4) == together);
    LonelyDevice lonely;
    CHECK(waves(lonely, *lowered, 3, 4) == together);
    CHECK(lonely.launches() >= 7);
}

TEST_CASE("a level that is read past corners is sent beside one that is not") {
    const ir::Program program = load_program(R"(
        stencil loop(x, y) {
            field a: f32 { boundary clamp }
            let g { boundary fixed 0 } = a[x+1, y-1] / 4
            a[t+1] = (g + g[y+1]) / 2 + a / 4
        })");
    RandomResident drawn;
    drawn.schedule.threads = {3, 1, 1};
    drawn.schedule.cells = {4, 4, 1};
    drawn.grid = {11, 10, 1};
    drawn.steps = 5;
    const std::optional<lower::Lowered> lowered = lower_resident(program, drawn);
    REQUIRE(lowered.has_value());
    const Reference reference(program, drawn.grid, drawn.steps, 1);
    emulator::EmulatedDevice device;
    CHECK(difference(reference, *lowered, device, load_cuda) == "");
}

TEST_CASE("what a resident schedule is refused for") {
    const auto why = [](const std::string& text, const std::string& schedule, const Extent& grid) {
        const ir::Program program = load_program(text);
        const schedule::ParsedResident parsed = schedule::parse_resident(schedule, program.rank());
        if (!parsed.mistakes.empty()) return parsed.mistakes.front().message;
        const schedule::ResidentChoice choice =
            schedule::choose_resident(program, schedule::Target{}, grid, parsed.pins);
        return choice.schedule ? schedule::print(*choice.schedule, program.rank()) : choice.reason;
    };
    const std::string heat =
        "stencil heat(x, y) {\n field u: f32 { boundary clamp }\n u[t+1] = u + 1/9*(u[x-3] + u[y+1])\n}\n";
    CHECK(why(heat, "resident threads=32x8 cells=1x2", {64, 64, 1}) == "resident threads=32x8 cells=1x2");
    CHECK(why(heat, "resident", {64, 64, 1}).starts_with("resident threads="));
    CHECK(why(heat, "resident warps=2", {64, 64, 1}).starts_with("resident has no setting `warps`"));
    CHECK(why(heat, "resident cells=1x0", {64, 64, 1}).starts_with("`cells` is a number for each axis"));
    CHECK(why(heat, "resident cells=3x1", {64, 64, 1}) ==
          "a thread has 1, 2 or 4 cells along the first axis");
    CHECK(why(heat, "resident cells=1x64", {64, 64, 1}) == "a thread has more than 32 rows of cells");
    CHECK(why(heat, "resident threads=2x64 cells=1x1", {64, 64, 1}) ==
          "`u` is read 3 cells away along x, and a block has 2");
    CHECK(why(heat, "resident threads=32x64", {64, 64, 1}) == "2048 threads are more than a block has");
    CHECK(why(heat, "resident threads=32x8 cells=1x2 keep=in_place", {64, 64, 1}) ==
          "resident threads=32x8 cells=1x2 keep=in_place");
    CHECK(why(heat, "resident keep=memory", {64, 64, 1}) == "`keep` is `registers`, `in_place` or `shared`");
    CHECK(why(heat, "resident keep=shared", {64, 64, 1}) == "`keep=shared` needs three axes");
    const std::string cube =
        "stencil heat(x, y, z) {\n field u: f32 { boundary clamp }\n u[t+1] = u[x-1] + u[z+1]\n}\n";
    CHECK(why(cube, "resident threads=8x8x2 cells=1x1x2 keep=shared", {64, 16, 16}) ==
          "`keep=shared` needs a block with one thread along the third axis, which has several planes");
    CHECK(why(cube, "resident threads=8x8x1 cells=4x1x4 keep=shared", {64, 16, 16}) ==
          "resident threads=8x8x1 cells=4x1x4 keep=shared");
    CHECK(
        why("stencil s(x, y) {\n field u: f32 { boundary clamp }\n u[t+1] = u / 2\n}\n",
            "resident threads=32x8 cells=1x2 keep=in_place", {64, 64, 1}) ==
        "`keep=in_place` needs a state whose neighbours are read, but not after its next level is computed");
    CHECK(why(heat, "resident", {16384, 16384, 1}).starts_with("the grid does not fit on the chip"));
    CHECK(why(heat, "resident", {3, 64, 1}) == "a grid of 3 cells along x is too small");
    CHECK(why("stencil s(x) {\n field u: f32 { boundary clamp }\n u[t+1] = u[x-1]\n}\n", "resident",
              {64, 1, 1}) == "a program of one axis has no axis to traverse");
}

TEST_CASE("a kernel for rows that end alike does single steps on others") {
    const ir::Program program = load_program(R"(
        stencil heat(x, y) {
            field u: f32 { boundary x fixed 1, y clamp }
            u[t+1] = u + 1/8*(u[x-1] + u[x+1] + u[y-1] + u[y+1] - 4*u)
        })");
    RandomResident drawn;
    drawn.schedule.threads = {5, 3, 1};
    drawn.schedule.cells = {4, 2, 1};
    drawn.grid = {19, 11, 1};  // one box along x, whose last thread has three cells of a row
    const std::optional<lower::Lowered> lowered = lower_resident(program, drawn);
    REQUIRE(lowered.has_value());
    REQUIRE(lowered->plan.time_block->resident() != nullptr);
    const rt::TimeBlock::Resident& block = *lowered->plan.time_block->resident();
    CHECK(block.divisors == halo::rt::Extent{4, 1, 1});
    CHECK(block.remainders == std::array<std::int64_t, halo::rt::kMaxRank>{3});
    CHECK(block.most_extent[0] == 20);
    CHECK(block.most_extent[1] == rt::TimeBlock::kAnyExtent);
    const auto launches = [&](const Extent& grid) {
        const Reference reference(program, grid, 6, 1);
        emulator::EmulatedDevice device;
        CHECK(difference(reference, *lowered, device, load_cuda) == "");
        return device.launches();
    };
    const auto together = launches(drawn.grid);
    CHECK(launches({15, 26, 1}) == together);
    CHECK(launches({18, 11, 1}) > together);  // two cells are left
    CHECK(launches({23, 11, 1}) > together);  // two boxes
}

TEST_CASE("shapes fitted to the grid") {
    const ir::Program program = load_program(R"(
        stencil heat(x, y, z) {
            field u: f32 { boundary fixed 1 }
            u[t+1] = u + 1/8*(u[x-1] + u[x+1] + u[y-1] + u[y+1] + u[z-1] + u[z+1] - 6*u)
        })");
    // What is between powers of two takes hardly longer than the next of them, and never a jump.
    double before = 0;
    schedule::Keep keep_before = schedule::Keep::registers;
    for (std::int64_t n = 20; n <= 176; ++n) {
        INFO(n << "^3");
        const schedule::ResidentChoice choice =
            schedule::choose_resident(program, schedule::Target{}, {n, n, n}, {});
        REQUIRE(choice.schedule.has_value());
        const schedule::ResidentSchedule& found = *choice.schedule;
        CHECK(found == schedule::fitted(found, {n, n, n}));
        CHECK(found.row_rest == n % found.cells[0]);
        CHECK(found.is_alone[0] == (n <= found.tile(0)));
        // Cells that no longer fit in registers are read from shared memory.
        const double most = found.keep == keep_before ? 1.3 : 1.4;
        if (before > 0) CHECK(choice.seconds_per_step < most * before);
        before = choice.seconds_per_step;
        keep_before = found.keep;
    }
    schedule::ResidentSchedule wide;
    wide.threads = {33, 3, 3};
    CHECK(wide.warps() == 10);
    CHECK(wide.warps_of_scheduler() == 3);
    CHECK(schedule::spilled_registers(168, wide, schedule::Target{}) == 0);
    CHECK(schedule::spilled_registers(178, wide, schedule::Target{}) == 10);
}

TEST_CASE("random time loops on emulated CUDA, with the grid on the chip") {
    check_on_the_chip(seeds_from_environment(1, 80), 1,
                      [](const Reference& reference, const lower::Lowered& lowered) {
                          emulator::EmulatedDevice device;
                          return difference(reference, lowered, device, load_cuda);
                      });
}

TEST_CASE("random time loops on emulated CUDA, with the grid on the chip, for that grid alone") {
    check_on_the_chip(seeds_from_environment(751, 20), 1,
                      [](const Reference& reference, const lower::Lowered& lowered) {
                          lower::Lowered fixed = lowered;
                          lower::fix_grid(fixed, reference.extent);
                          emulator::EmulatedDevice device;
                          return difference(reference, fixed, device, load_cuda);
                      });
}

TEST_CASE("random time loops on emulated CUDA, with the grid on the chip by a kernel for that grid alone") {
    check_on_the_chip(seeds_from_environment(771, 20), 1,
                      [](const Reference& reference, const lower::Lowered& lowered) {
                          lower::Lowered fixed = lowered;
                          lower::fix_time_block(fixed, reference.extent);
                          emulator::EmulatedDevice device;
                          return difference(reference, fixed, device, load_cuda);
                      });
}

TEST_CASE("random time loops that go over to the chip when some steps are done") {
    check_on_the_chip(seeds_from_environment(1, 12), 2,
                      [](const Reference& reference, const lower::Lowered& lowered) {
                          emulator::EmulatedDevice device;
                          return late_difference(reference, lowered, device, reference.steps / 3);
                      });
}

TEST_CASE("the examples' time loops with the grid on the chip") {
    int done = 0;
    for (const auto& entry : std::filesystem::directory_iterator(HALO_SOURCE_DIR "/dsl_examples")) {
        if (entry.path().extension() != ".halo") continue;
        const ir::Program program = load_program(read_spec(entry.path()));
        RandomResident drawn;
        const bool has_planes = program.rank() == 3;
        drawn.schedule.threads = {16, 4, has_planes ? 2 : 1};
        drawn.schedule.cells = {1, 2, has_planes ? 4 : 1};
        drawn.grid = has_planes ? Extent{27, 13, 19} : Extent{37, 21, 1};
        drawn.steps = 5;
        INFO(entry.path().filename());
        const std::optional<lower::Lowered> lowered = lower_resident(program, drawn);
        if (!lowered) continue;
        ++done;
        const Reference reference(program, drawn.grid, drawn.steps, 1);
        emulator::EmulatedDevice device;
        CHECK(difference(reference, *lowered, device, load_cuda) == "");
    }
    CHECK(done >= 8);
}
