// Time loops by temporal schedules on emulated CUDA: random ones, and the examples'.
#include <filesystem>

#include "analyzed.h"
#include "catch.h"
#include "compare_engines.h"
#include "compiler/emit/emit.h"
#include "emulated_device.h"
#include "random_time_loop.h"
#include "read_spec.h"

using namespace halo;
using namespace halo::test;

TEST_CASE("random time loops on emulated CUDA, several steps at once") {
    const Seeds seeds = seeds_from_environment(1, 60);
    std::uint64_t done = 0;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const RandomTimeLoop loop = random_time_loop(seed);
        INFO("seed " << seed << "\n" << loop.describe());
        const ir::Program program = load_program(loop.text);
        const std::optional<lower::Lowered> lowered = lower_temporal(program, loop);
        if (!lowered) continue;
        ++done;
        const Reference reference(program, loop.grid, loop.steps, seed);
        emulator::EmulatedDevice device;
        CHECK(difference(reference, *lowered, device, load_cuda) == "");
    }
    CHECK(done * 2 >= seeds.count);  // most can be done so
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
