#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyzed.h"
#include "catch.h"
#include "compiler/ir/verify.h"
#include "compiler/schedule/resident.h"
#include "random_bytes.h"
#include "random_iterations.h"
#include "random_program.h"
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
    CHECK(done * 4 >= 3 * seeds.count);
}

void check_byte_loops(Seeds seeds, const LoopDifference& difference) {
    std::uint64_t done = 0, refused = 0;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const RandomTimeLoop loop = random_byte_loop(seed);
        INFO("seed " << seed << "\n" << loop.describe());
        std::optional<ir::Program> program;
        try {
            program = load_program(loop.text);
        } catch (const std::runtime_error&) {
            ++refused;  // what has no value anywhere, and numbers that no byte can be
            continue;
        }
        // Some are iterations of a repeat.
        std::optional<ir::Program> repeated;
        if (seed % 5 == 0) repeated = iterations_of(*program, loop.temporal.steps * 2 + 1);
        const std::optional<lower::Lowered> lowered = lower_temporal(repeated ? *repeated : *program, loop);
        if (!lowered) continue;
        ++done;
        const Reference reference(repeated ? *repeated : *program, loop.grid, repeated ? 2 : loop.steps,
                                  seed);
        CHECK(difference(reference, *lowered) == "");
    }
    CHECK(refused * 4 <= seeds.count + 3);
    CHECK(done * 5 >= 2 * seeds.count);
}

void check_iterations(Seeds seeds, const LoopDifference& difference) {
    std::uint64_t done = 0;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const RandomTimeLoop loop = random_time_loop(seed);
        Random random(seed * 17 + 3);
        const int count = loop.temporal.steps * random.between(1, 3) + random.between(0, 2);
        const std::optional<ir::Program> program = iterations_of(load_program(loop.text), count);
        if (!program) continue;
        INFO("seed " << seed << "\n" << loop.describe() << "\nas " << count << " iterations of a repeat");
        REQUIRE(ir::verify(*program) == std::vector<std::string>());
        const std::optional<lower::Lowered> lowered = lower_temporal(*program, loop);
        if (!lowered) continue;
        ++done;
        const Reference reference(*program, loop.grid, random.between(1, 3), seed);
        CHECK(difference(reference, *lowered) == "");
    }
    CHECK(done * 5 >= seeds.count);
}

namespace {

// `reduction` within a little of a number: sums are taken in other orders.
rt::HostScalar close_to(const lower::Lowered& lowered, const std::string& reduction, double value) {
    using Op = rt::HostScalar::Op;
    const auto place = std::ranges::find(lowered.plan.reductions, reduction, &rt::ReductionPlan::name);
    const auto index = static_cast<int>(lowered.plan.params.size()) +
                       static_cast<int>(place - lowered.plan.reductions.begin());
    return {{{Op::param, 0, index},
             {Op::constant, value, 0},
             {Op::sub, 0, 0},
             {Op::abs, 0, 0},
             {Op::constant, 1e-9 * (1 + std::abs(value)), 0},
             {Op::less_equal, 0, 0}}};
}

// The first step after which it is so; none where it never is.
std::optional<int> first_close_to(const std::vector<double>& by_step, double value) {
    for (std::size_t step = 0; step < by_step.size(); ++step)
        if (std::abs(by_step[step] - value) <= 1e-9 * (1 + std::abs(value)))
            return static_cast<int>(step) + 1;
    return std::nullopt;
}

}  // namespace

void check_stopping(Seeds seeds, const StoppedDifference& difference) {
    std::uint64_t done = 0;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        RandomTimeLoop loop = random_time_loop(seed);
        const ir::Program program = load_program(loop.text);
        const std::optional<lower::Lowered> lowered = lower_temporal(program, loop);
        if (!lowered || lowered->plan.time_block->reductions.empty()) continue;
        Random random(seed * 31 + 7);
        const int steps = loop.temporal.steps * random.between(1, 3) + random.between(0, 3);
        const Reference whole(program, loop.grid, steps, seed);
        const int watched = random.pick(lowered->plan.time_block->reductions);
        const std::string& name = lowered->plan.reductions[static_cast<std::size_t>(watched)].name;
        const std::vector<double>& by_step = whole.by_step(name);
        const double value = by_step[static_cast<std::size_t>(random.between(0, steps - 1))];
        const int expected = first_close_to(by_step, value).value_or(steps);
        INFO("seed " << seed << "\n"
                     << loop.describe() << "\nof " << steps << " until " << name << " is " << value
                     << ", after " << expected);
        const Reference reference(program, loop.grid, expected, seed);
        rt::RunOptions run;
        run.steps = steps;
        run.until = close_to(*lowered, name, value);
        ++done;
        CHECK(difference(reference, *lowered, run) == "");
    }
    CHECK(done * 4 >= seeds.count);
}

void check_on_the_chip(Seeds seeds, int times, const LoopDifference& difference) {
    std::uint64_t done = 0, drawn_so = 0;
    std::map<schedule::Keep, std::uint64_t> kept;  // of those done
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const RandomTimeLoop loop = random_time_loop(seed);
        // Faces that stand between two cells are not for grids on the chip.
        if (loop.text.find("symmetric") != std::string::npos) continue;
        ++drawn_so;
        const ir::Program program = load_program(loop.text);
        RandomResident drawn = random_resident(seed, program.rank());
        drawn.steps *= times;
        INFO("seed " << seed << "\n" << drawn.describe(loop.text, program.rank()));
        const std::optional<lower::Lowered> lowered = lower_resident(program, drawn);
        if (!lowered) continue;
        ++done;
        ++kept[drawn.schedule.keep];
        const Reference reference(program, drawn.grid, drawn.steps, seed);
        CHECK(difference(reference, *lowered) == "");
    }
    CHECK(done * 2 >= drawn_so);
    if (drawn_so < 60) return;  // a test may be asked for few
    for (const schedule::Keep keep :
         {schedule::Keep::registers, schedule::Keep::in_place, schedule::Keep::shared}) {
        INFO("keep=" << schedule::keep_word(keep));
        CHECK(kept[keep] > 0);
    }
}

}  // namespace halo::test
