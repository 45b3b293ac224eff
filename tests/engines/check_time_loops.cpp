#include <fmt/format.h>

#include "analyzed.h"
#include "catch.h"
#include "compiler/schedule/resident.h"
#include "random_time_loop.h"

namespace halo::test {

std::string RandomResident::describe(const std::string& text, int rank) const {
    return fmt::format("{}grid {} x {} x {}, {} steps, {}", text, grid[0], grid[1], grid[2], steps,
                       schedule::print(schedule, rank));
}

void check_several_steps(Seeds seeds, const LoopDifference& difference) {
    std::uint64_t done = 0;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const RandomTimeLoop loop = random_time_loop(seed);
        INFO("seed " << seed << "\n" << loop.describe());
        const ir::Program program = load_program(loop.text);
        const std::optional<lower::Lowered> lowered = lower_temporal(program, loop);
        if (!lowered) continue;
        ++done;
        const Reference reference(program, loop.grid, loop.steps, seed);
        CHECK(difference(reference, *lowered) == "");
    }
    CHECK(done * 2 >= seeds.count);
}

void check_on_the_chip(Seeds seeds, int times, const LoopDifference& difference) {
    std::uint64_t done = 0;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const RandomTimeLoop loop = random_time_loop(seed);
        const ir::Program program = load_program(loop.text);
        RandomResident drawn = random_resident(seed, program.rank());
        drawn.steps *= times;
        INFO("seed " << seed << "\n" << drawn.describe(loop.text, program.rank()));
        const std::optional<lower::Lowered> lowered = lower_resident(program, drawn);
        if (!lowered) continue;
        ++done;
        const Reference reference(program, drawn.grid, drawn.steps, seed);
        CHECK(difference(reference, *lowered) == "");
    }
    CHECK(done * 2 >= seeds.count);
}

}  // namespace halo::test
