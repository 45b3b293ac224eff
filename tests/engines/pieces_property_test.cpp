// Random programs on grids that are cut into pieces: the interpreter's results on the whole grid, bit by bit.
#include <algorithm>

#include "catch.h"
#include "emulated_device.h"
#include "load_cpp.h"
#include "property.h"
#include "random_pieces.h"
#include "random_schedule.h"
#include "random_time_loop.h"
#include "runtime/cpu/cpu_device.h"

using namespace halo;
using namespace halo::test;

namespace {

constexpr int kSteps = 7;

GeneratorOptions programs_to_cut() {
    GeneratorOptions options;
    options.max_cells = 4000;
    options.max_radius = 2;
    options.tables = true;
    options.points = true;
    return options;
}

std::string complaint_of(const CutRun& run, std::uint64_t& cut) {
    cut += run.is_cut ? 1 : 0;
    return run.wrong.empty() ? std::string() : run.description + ": " + run.wrong;
}

}  // namespace

TEST_CASE("random programs in pieces on the CPU") {
    const std::unique_ptr<rt::Device> one = rt::make_cpu_device(2), other = rt::make_cpu_device(1);
    const Seeds seeds = seeds_from_environment(11001, 80);
    std::uint64_t cut = 0;
    check_engine(
        programs_to_cut(), seeds,
        [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
            return complaint_of(run_in_pieces(program, reference, source.seed, {one.get(), other.get()},
                                              lower::lower_cpu, load_cpp),
                                cut);
        },
        kSteps);
    CHECK(cut * 3 >= seeds.count);
}

TEST_CASE("random programs in pieces with components side by side") {
    GeneratorOptions options = programs_to_cut();
    options.interleaved = true;
    options.f64 = false;
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    const Seeds seeds = seeds_from_environment(12001, 40);
    std::uint64_t cut = 0;
    check_engine(
        options, seeds,
        [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
            return complaint_of(
                run_in_pieces(program, reference, source.seed, {device.get()}, lower::lower_cpu, load_cpp),
                cut);
        },
        kSteps);
    CHECK(cut * 4 >= seeds.count);
}

TEST_CASE("random programs in pieces on emulated CUDA") {
    GeneratorOptions options = programs_to_cut();
    options.reductions = false;  // their blocks are planes by a schedule of their own
    options.max_cells = 1200;
    const Seeds seeds = seeds_from_environment(13001, 40);
    std::uint64_t cut = 0;
    check_engine(
        options, seeds,
        [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
            Random random(source.seed + 1);
            const auto strategy = random.pick<schedule::Strategy>(
                {schedule::Strategy::direct, schedule::Strategy::tile, schedule::Strategy::stream});
            const std::vector<schedule::Schedule> schedules = random_schedules(program, strategy, random);
            if (schedules.empty()) return std::string();
            emulator::EmulatedDevice one, other;
            const auto lower = [&](const ir::Program& piece) { return lower::lower_cuda(piece, schedules); };
            return complaint_of(
                run_in_pieces(program, reference, source.seed, {&one, &other}, lower, load_cuda), cut);
        },
        4);
    CHECK(cut * 4 >= seeds.count);
}

TEST_CASE("random time loops in pieces on emulated CUDA, several steps at once") {
    const Seeds seeds = seeds_from_environment(14001, 60);
    std::uint64_t cut = 0;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const RandomTimeLoop loop = random_time_loop(seed);
        const ir::Program program = load_program(loop.text);
        const bool reduces = std::ranges::any_of(program.statements, [](const ir::Statement& statement) {
            return std::holds_alternative<ir::Reduce>(statement);
        });
        if (reduces || !lower_temporal(program, loop)) continue;
        INFO("seed " << seed << "\n" << loop.describe());
        const Reference reference(program, loop.grid, 2 * loop.steps, seed);
        emulator::EmulatedDevice one, other;
        const auto lower = [&](const ir::Program& piece) {
            const std::optional<lower::Lowered> lowered = lower_temporal(piece, loop);
            return lowered ? *lowered : throw std::runtime_error("a piece is refused where the grid is not");
        };
        const CutRun run = run_in_pieces(program, reference, seed, {&one, &other}, lower, load_cuda);
        INFO(run.description);
        CHECK(run.wrong == "");
        cut += run.is_cut ? 1 : 0;
    }
    CHECK(cut * 8 >= seeds.count);
}
