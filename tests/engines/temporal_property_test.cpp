// Time loops by temporal schedules on emulated CUDA: random ones, and the examples'.
#include <fmt/format.h>

#include <filesystem>

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

// Most of the time is LLVM's: many texts run once each, on few cells.
[[maybe_unused]] const int kOptimization = halo::emulator::CudaModule::optimization = 0;

TEST_CASE("random time loops on emulated CUDA, several steps at once") {
    check_several_steps(seeds_from_environment(1, 60),
                        [](const Reference& reference, const lower::Lowered& lowered) {
                            emulator::EmulatedDevice device;
                            return difference(reference, lowered, device, load_cuda);
                        });
}

TEST_CASE("iterations of random repeats on emulated CUDA, several at once") {
    // Half of the kernels are there only after the first step.
    bool is_late = false;
    check_iterations(seeds_from_environment(901, 60),
                     [&](const Reference& reference, const lower::Lowered& lowered) {
                         emulator::EmulatedDevice device;
                         is_late = !is_late;
                         if (is_late && reference.steps > 1)
                             return late_difference(reference, lowered, device, 1);
                         return difference(reference, lowered, device, load_cuda);
                     });
}

TEST_CASE("random time loops on emulated CUDA end at the step that a reduction says") {
    check_stopping(seeds_from_environment(501, 80),
                   [](const Reference& reference, const lower::Lowered& lowered, const rt::RunOptions& run) {
                       emulator::EmulatedDevice device;
                       return difference(reference, lowered, device, load_cuda, 0, {}, nullptr, &run);
                   });
}

TEST_CASE("random time loops on emulated CUDA, several steps at once, for their grid alone") {
    check_several_steps(seeds_from_environment(701, 30),
                        [](const Reference& reference, const lower::Lowered& lowered) {
                            lower::Lowered fixed = lowered;
                            lower::fix_grid(fixed, reference.extent);
                            emulator::EmulatedDevice device;
                            return difference(reference, fixed, device, load_cuda);
                        });
}

TEST_CASE("random time loops on emulated CUDA, several steps at once, that kernel for their grid alone") {
    check_several_steps(seeds_from_environment(731, 30),
                        [](const Reference& reference, const lower::Lowered& lowered) {
                            lower::Lowered fixed = lowered;
                            lower::fix_time_block(fixed, reference.extent);
                            emulator::EmulatedDevice device;
                            return difference(reference, fixed, device, load_cuda);
                        });
}

TEST_CASE("a kernel of several steps that is for another grid stays unused") {
    check_several_steps(seeds_from_environment(761, 6),
                        [](const Reference& reference, const lower::Lowered& lowered) {
                            lower::Lowered fixed = lowered;
                            rt::Extent other = reference.extent;
                            ++other[0];
                            lower::fix_time_block(fixed, other);
                            emulator::EmulatedDevice device;
                            return difference(reference, fixed, device, load_cuda);
                        });
}

TEST_CASE("random time loops whose kernel for several steps comes when some are done") {
    check_several_steps(seeds_from_environment(1, 30),
                        [](const Reference& reference, const lower::Lowered& lowered) {
                            emulator::EmulatedDevice device;
                            return late_difference(reference, lowered, device, reference.steps / 3);
                        });
}

// Shrunk from random programs: the plane past a face was filled after its neighbours were gathered; and a
// plane that is read along the streaming axis alone was shown past a face with neighbours that nobody kept;
// and where a fixed plane met a fixed row, the row's ends were of the plane.
TEST_CASE("neighbours in other planes, past a face of the streaming axis") {
    const char* text = GENERATE(
        "stencil corner(x, y) {\n    field a: f64 { boundary x periodic, y.high fixed 0.5 }\n"
        "    a[t+1] = 1/2*a + 1/4*a[x+1, y+1]\n}\n",
        "stencil far(x, y) {\n    field a: f32 { boundary x clamp, y mirror }\n"
        "    a[t+1] = 1/4*a + 1/4*a[x-3, y-2] + 1/4*a[y-3] + 1/8*a[x+3, y-1]\n}\n",
        "stencil edge(x, y, z) {\n    field a: f32 { boundary x mirror, y fixed 1/2, z fixed 1/4 }\n"
        "    a[t+1] = 1/4*a + 1/4*a[x-1, y-1, z-1] + 1/4*a[z+1]\n}\n");
    const ir::Program program = load_program(text);
    RandomTimeLoop loop;
    const bool has_rows = program.rank() == 3;
    loop.grid = has_rows ? Extent{131, 9, 20} : Extent{131, 54, 1};
    loop.steps = 5;
    loop.temporal = {2, has_rows ? 2 : 1, {4, has_rows ? 4 : 1}, 2, 1, 1, 1};
    const std::optional<lower::Lowered> lowered = lower_temporal(program, loop);
    REQUIRE(lowered);
    const Reference reference(program, loop.grid, loop.steps, 1);
    emulator::EmulatedDevice device;
    CHECK(difference(reference, *lowered, device, load_cuda) == "");
}

TEST_CASE("outputs begin in the middle of a sector where that saves a tile") {
    const ir::Program program = load_program(R"(stencil star(x, y, z) {
    field u: f32 { boundary x.low clamp, x.high fixed 1/2, y mirror, z clamp }
    u[t+1] = 1/4*u + 1/8*u[x-1] + 1/4*u[x+1] + 1/8*u[y+1] + 1/8*u[z-1]
}
)");
    RandomTimeLoop loop;
    loop.steps = 5;
    loop.temporal = {4, 4, {2, 4}, 2, 1, 1, 3};
    // One tile, two and three where the last length would take two, three and four, and lengths beside.
    for (const int nx : {64, 65, 117, 120, 121, 176}) {
        CAPTURE(nx);
        loop.grid = {nx, 19, 20};
        const std::optional<lower::Lowered> lowered = lower_temporal(program, loop);
        REQUIRE(lowered);
        CHECK(emit::print_cuda(lowered->kernels).find("shift_x") != std::string::npos);
        const Reference reference(program, loop.grid, loop.steps, 1);
        emulator::EmulatedDevice device;
        CHECK(difference(reference, *lowered, device, load_cuda) == "");
    }
}

TEST_CASE("fields over fewer axes are read from memory by all steps, with faces of their own") {
    const ir::Program program = load_program(R"(stencil layers(x, y, z) {
    param p = 0.5
    field u: f32 { boundary x periodic, y clamp, z clamp }
    field profile: f32 over z { boundary z.low fixed p, z.high mirror }
    field depth: f32 over x, y { boundary x periodic, y mirror }
    field cut: f64 over y, z { boundary y clamp, z periodic }
    u[t+1] = 1/2*u + 1/8*profile[z-2]*(u[x-1] + u[z+1]) + 1/8*depth[x+2, y-1]*u[y+1] + 1/8*f32(cut[z+1])
}
)");
    RandomTimeLoop loop;
    loop.grid = {67, 9, 40};
    loop.steps = 5;
    loop.temporal = {2, 2, {2, 4}, 2, 1, 1, 7};
    const std::optional<lower::Lowered> lowered = lower_temporal(program, loop);
    REQUIRE(lowered);
    const std::string text = emit::print_cuda(lowered->kernels);
    CHECK(text.find("profile_ring") == std::string::npos);
    // Planes come before the first one and after the last.
    CHECK(text.find("profile[min(max(") != std::string::npos);
    const Reference reference(program, loop.grid, loop.steps, 1);
    emulator::EmulatedDevice device;
    CHECK(difference(reference, *lowered, device, load_cuda) == "");
}

TEST_CASE("of a chain the steps between are done several at once") {
    const ir::Program program = load_program(R"(stencil flows(x, y) {
    field u: f32 { boundary x periodic, y clamp }
    u[t+1] = 1/2*u + 1/4*u[x-1] + 1/8*u[y+1]
}
stencil smooth(x, y) {
    field u: f32 { boundary x periodic, y clamp }
    u[t+1] = 1/2*u + 1/4*(u[x-1] + u[y-2])
    reduce change = max(abs(u[t+1] - u))
}
stencil settles(x, y) {
    field u: f32 { boundary x periodic, y clamp }
    u[t+1] = 3/4*u + 1/4*u[y-1]
}
run flows {
    steps 15
    every 5 from 4 do smooth
    then settles for 3
}
)");
    RandomTimeLoop loop;
    loop.grid = {131, 54, 1};
    loop.steps = 18;
    loop.temporal = {2, 1, {4, 1}, 2, 1, 1, 1};
    const std::optional<lower::Lowered> lowered = lower_temporal(program, loop);
    REQUIRE(lowered);
    const Reference reference(program, loop.grid, loop.steps, 1);
    emulator::EmulatedDevice device;
    CHECK(difference(reference, *lowered, device, load_cuda) == "");
}

// Shrunk from a random program: what a mirror shows lay before the first plane, and was not computed.
TEST_CASE("traversals that begin beside a mirror, which alone looks back") {
    const char* text = GENERATE(
        "stencil up(x, y) {\n    field a: f32 { boundary x periodic, y mirror }\n"
        "    a[t+1] = 1/4*a + 1/4*a[y+1] + 1/8*a[x-1]\n}\n",
        "stencil far(x, y) {\n    field a: f32 { boundary x clamp, y.low fixed 1/2, y.high mirror }\n"
        "    let g { boundary x clamp, y mirror } = 1/4*a + 1/4*a[y+2]\n"
        "    a[t+1] = 1/2*g + 1/4*g[y+1] + 1/8*a[t-1]\n}\n",
        "stencil box(x, y, z) {\n    field a: f32 { boundary z mirror }\n"
        "    a[t+1] = 1/4*a + 1/4*a[x+1, z+1] + 1/8*a[x-1, z+1]\n}\n");
    const ir::Program program = load_program(text);
    RandomTimeLoop loop;
    const bool has_rows = program.rank() == 3;
    loop.grid = has_rows ? Extent{64, 9, 20} : Extent{64, 43, 1};
    loop.temporal = {2, has_rows ? 2 : 1, {1, has_rows ? 4 : 1}, 1, 1, 1, 1};
    for (const int steps : {1, 2, 3}) {
        loop.temporal.steps = steps;
        loop.steps = 2 * steps + 1;
        const Reference reference(program, loop.grid, loop.steps, 1);
        for (const int blocks : {1, 3, has_rows ? 20 : 43, 86}) {
            loop.temporal.blocks = blocks;
            INFO(program.name << ", " << steps << " steps at once, " << blocks << " blocks");
            const std::optional<lower::Lowered> lowered = lower_temporal(program, loop);
            REQUIRE(lowered);
            emulator::EmulatedDevice device;
            CHECK(difference(reference, *lowered, device, load_cuda) == "");
        }
    }
}

TEST_CASE("levels that are kept and that no state reads") {
    const char* text = GENERATE(
        // the past is there for an output alone
        "stencil past(x, y) {\n    field u, speed: f32 { boundary clamp }\n"
        "    u[t+1] = 1/2*u + 1/4*u[x+1]\n    speed = u - u[t-1]\n}\n",
        // nobody reads b, or reads it before it is written
        "stencil last(x, y) {\n    field b, a: f32 { boundary clamp }\n"
        "    a[t+1] = 1/2*a + 1/4*a[y+1]\n    b[t+1] = 1/2*a[t+1, y+1] + 1/4*a[t+1, y-1]\n}\n",
        "stencil between(x, y) {\n    field a, b: f32 { boundary clamp }\n"
        "    b[t+1] = 1/2*a + 1/4*a[y-2]\n    a[t+1] = 1/2*b[t+1] + 1/4*b[t+1, y+1]\n}\n");
    const ir::Program program = load_program(text);
    RandomTimeLoop loop;
    loop.grid = {131, 54, 1};
    loop.steps = 7;
    loop.temporal = {3, 1, {4, 1}, 2, 1, 1, 2};
    const std::optional<lower::Lowered> lowered = lower_temporal(program, loop);
    REQUIRE(lowered);
    // What nobody reads is not copied from memory, either.
    CHECK(emit::print_cuda(lowered->kernels).find("b_ring") == std::string::npos);
    const Reference reference(program, loop.grid, loop.steps, 1);
    emulator::EmulatedDevice device;
    CHECK(difference(reference, *lowered, device, load_cuda) == "");
}

// Shrunk from a random program: both levels would have had sums that grow as planes arrive.
TEST_CASE("a state and a reduction in one stage, each with a level of its own at neighbours") {
    const ir::Program program = load_program(R"(stencil two(x, y) {
    field a, b: f32 { boundary x fixed 0.5, y periodic }
    let g { boundary x fixed 1/8, y periodic } = a[x+1]
    a[t+1] = g[x-1, y-1]
    b[t+1] = a
    reduce ahead = max(b[t+1, x-1, y+1])
}
)");
    RandomTimeLoop loop;
    loop.grid = {67, 48, 1};
    loop.steps = 6;
    loop.temporal = {3, 2, {2, 1}, 4, 1, 1, 2};
    loop.temporal.reductions = {"ahead"};
    const std::optional<lower::Lowered> lowered = lower_temporal(program, loop);
    REQUIRE(lowered);
    const Reference reference(program, loop.grid, loop.steps, 1);
    emulator::EmulatedDevice device;
    CHECK(difference(reference, *lowered, device, load_cuda) == "");
}

TEST_CASE("the examples' time loops, two steps at once") {
    int done = 0;
    for (const auto& entry : std::filesystem::directory_iterator(HALO_SOURCE_DIR "/dsl_examples")) {
        if (entry.path().extension() != ".halo") continue;
        const ir::Program program = load_program(read_spec(entry.path()));
        RandomTimeLoop loop;
        const bool has_rows = program.rank() == 3;
        loop.grid = has_rows ? Extent{66, 20, 40} : Extent{67, 45, 1};
        loop.steps = 5;
        loop.temporal = {2, has_rows ? 8 : 2, {2, has_rows ? 2 : 1}, 2, 1, 1, 3};
        INFO(entry.path().filename());
        const std::optional<lower::Lowered> lowered = lower_temporal(program, loop);
        if (!lowered) continue;
        ++done;
        const Reference reference(program, loop.grid, loop.steps, 1);
        emulator::EmulatedDevice device;
        CHECK(difference(reference, *lowered, device, load_cuda) == "");
    }
    CHECK(done >= 8);
}

namespace {

// Stages as those of Runge and Kutta: each reads the sum of a state and a let at neighbours.
std::string stages_text(Random& random) {
    const std::string type = random.pick<std::string>({"f32", "f64", "f32"});
    const std::string kind =
        random.pick<std::string>({"periodic", "periodic", "clamp", "mirror", "fixed 1/2"});
    const std::string rate = random.pick<std::string>({"laplacian(p) - w*p", "p[x-1] - 2*p + w[x+1]*p[y+1]",
                                                       "p[x+1, y-1] - p[x-1] + q", "laplacian(p)/8 + p*q"});
    std::string text = "stencil stages(x, y) {\n    param dt = 1/16\n";
    text += fmt::format("    field u, v: {} {{ boundary {} }}\n", type, kind);
    text += fmt::format("    field w: {} {{ boundary periodic }}\n", type);
    text += fmt::format("    def rate(p, q) = {}\n    let k1 {{ boundary {} }} = rate(u, v)\n", rate, kind);
    const int stages = random.between(2, 4);
    std::string sum = "k1";
    for (int stage = 2; stage <= stages; ++stage) {
        const std::string before = fmt::format("k{}", random.between(1, stage - 1));
        text += fmt::format("    let k{} {{ boundary {} }} = rate({} + dt*{}, {})\n", stage, kind,
                            random.pick<std::string>({"u", "u", "v"}), before,
                            random.pick<std::string>({"v", "k1", "u*" + before}));
        sum += fmt::format(" + 2*k{}", stage);
    }
    text += fmt::format("    u[t+1] = u + dt/8*({})\n", sum);
    text +=
        fmt::format("    v[t+1] = {}\n", random.pick<std::string>({"v/2 + k1[x-1]/4", "u", "(v + k2)/2"}));
    if (random.chance(30)) text += "    reduce most = max(u[t+1])\n";
    return text + "}\n";
}

RandomTimeLoop random_passes(std::uint64_t seed) {
    Random random(seed * 6007 + 3);
    RandomTimeLoop loop;
    loop.text = stages_text(random);
    const int columns = random.pick<int>({1, 2, 2, 4});
    loop.grid = {32 * columns + random.between(0, 40), random.between(20, 40), 1};
    loop.steps = random.between(1, 3);
    loop.temporal = {1, random.between(1, 3), {columns, 1}, random.between(2, 4), random.between(1, 3),
                     1, random.between(1, 4)};
    loop.temporal.passes = random.between(2, 3);
    return loop;
}

}  // namespace

TEST_CASE("random steps in several passes on emulated CUDA") {
    const Seeds seeds = seeds_from_environment(1, 15);
    std::uint64_t done = 0;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const RandomTimeLoop loop = random_passes(seed);
        INFO("seed " << seed << "\n" << loop.describe());
        const ir::Program program = load_program(loop.text, seed % 3 > 0);
        const std::optional<lower::Lowered> lowered = lower_temporal(program, loop);
        if (!lowered) continue;
        ++done;
        CHECK(lowered->plan.time_block->earlier.size() + 1 == static_cast<std::size_t>(loop.temporal.passes));
        const Reference reference(program, loop.grid, loop.steps, seed);
        emulator::EmulatedDevice device;
        CHECK(difference(reference, *lowered, device, load_cuda) == "");
        if (seed % 4 == 0) CHECK(late_difference(reference, *lowered, device, 1) == "");
    }
    CHECK(done * 2 >= seeds.count);
}

TEST_CASE("Runge and Kutta's stages, two in a pass") {
    const ir::Program program = load_program(read_spec(HALO_SOURCE_DIR "/dsl_examples/schroedinger2d.halo"));
    RandomTimeLoop loop;
    loop.grid = {150, 40, 1};
    loop.steps = 3;
    loop.temporal = {1, 2, {4, 1}, 2, 1, 1, 3};
    loop.temporal.passes = 2;
    const std::optional<lower::Lowered> lowered = lower_temporal(program, loop);
    REQUIRE(lowered);
    REQUIRE(lowered->plan.time_block->earlier.size() == 1);
    const Reference reference(program, loop.grid, loop.steps, 1);
    emulator::EmulatedDevice device;
    CHECK(difference(reference, *lowered, device, load_cuda) == "");
}
