// Stencils of four axes: random ones on the CPU, on emulated CUDA, for one grid alone and in pieces.
#include <fmt/format.h>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/planning/offline_target.h"
#include "compiler/lower/fixed_grid.h"
#include "compiler/lower/lower.h"
#include "emulated_device.h"
#include "emulator.h"
#include "load_cpp.h"
#include "property.h"
#include "random_pieces.h"
#include "random_schedule.h"
#include "runtime/cpu/cpu_device.h"

using namespace halo;
using namespace halo::test;

namespace {

GeneratorOptions programs_of_four_axes() {
    GeneratorOptions options;
    options.min_rank = options.max_rank = 4;
    options.max_radius = 2;
    options.max_cells = 1500;
    options.noise = false;
    options.series = true;
    options.fewer_axes = true;
    options.repeats = true;
    options.shared_cells = true;
    return options;
}

}  // namespace

TEST_CASE("random programs of four axes on the CPU") {
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    check_engine(programs_of_four_axes(), seeds_from_environment(41001, 30),
                 [&](const RandomProgram&, const ir::Program& program, const Reference& reference) {
                     return difference(reference, lower::lower_cpu(program), *device, load_cpp_unoptimized);
                 });
}

TEST_CASE("random programs of four axes on emulated CUDA, for any grid and for theirs alone") {
    check_engine(programs_of_four_axes(), seeds_from_environment(42001, 30),
                 [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
                     Random random(source.seed + 1);
                     const std::vector<schedule::Schedule> schedules =
                         random_schedules(program, schedule::Direct{}, random);
                     if (schedules.empty()) return std::string("no schedule is legal");
                     lower::Lowered lowered = lower::lower_cuda(program, {schedules});
                     if (source.seed % 3 == 0) lower::fix_grid(lowered, reference.extent);
                     emulator::EmulatedDevice device;
                     return difference(reference, lowered, device, load_cuda);
                 });
}

TEST_CASE("random programs of four axes with components side by side") {
    GeneratorOptions options = programs_of_four_axes();
    options.interleaved = true;
    options.f64 = false;
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    check_engine(options, seeds_from_environment(43001, 10),
                 [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
                     const std::string on_cpu =
                         difference(reference, lower::lower_cpu(program), *device, load_cpp_unoptimized);
                     if (!on_cpu.empty()) return "on the CPU: " + on_cpu;
                     Random random(source.seed + 1);
                     const std::vector<schedule::Schedule> schedules =
                         random_schedules(program, schedule::Direct{}, random);
                     if (schedules.empty()) return std::string("no schedule is legal");
                     emulator::EmulatedDevice emulated;
                     return difference(reference, lower::lower_cuda(program, {schedules}), emulated,
                                       load_cuda);
                 });
}

TEST_CASE("random programs of four axes in pieces") {
    GeneratorOptions options = programs_of_four_axes();
    options.repeats = false;
    const std::unique_ptr<rt::Device> one = rt::make_cpu_device(2), other = rt::make_cpu_device(1);
    const Seeds seeds = seeds_from_environment(44001, 20);
    std::uint64_t cut = 0;
    check_engine(
        options, seeds,
        [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
            const CutRun run = run_in_pieces(program, reference, source.seed, {one.get(), other.get()},
                                             lower::lower_cpu, load_cpp_unoptimized);
            cut += run.is_cut ? 1 : 0;
            return run.wrong.empty() ? "" : run.description + ": " + run.wrong;
        },
        4);
    CHECK(cut * 4 >= seeds.count);
}

// By the schedules that a run in pieces chooses: reductions are added up plane by plane, so that the sums
// have the same bits however the grid is cut.
TEST_CASE("random programs of four axes in pieces on emulated CUDA") {
    GeneratorOptions options = programs_of_four_axes();
    options.repeats = false;
    options.max_cells = 600;
    const Seeds seeds = seeds_from_environment(45001, 12);
    std::uint64_t cut = 0, reducing = 0;
    const auto lower = [](const ir::Program& piece) {
        driver::CodeOptions code;
        code.target = driver::offline_target("sm_90");
        code.single_steps = code.reductions_by_plane = true;
        return driver::cuda_code(piece, driver::choose_plan(piece, code).plan()).lowered;
    };
    check_engine(
        options, seeds,
        [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
            emulator::EmulatedDevice one, other;
            const CutRun run =
                run_in_pieces(program, reference, source.seed, {&one, &other}, lower, load_cuda);
            cut += run.is_cut ? 1 : 0;
            reducing += run.is_cut && ir::reduces(program) ? 1 : 0;
            return run.wrong.empty() ? "" : run.description + ": " + run.wrong;
        },
        4);
    CHECK(cut * 4 >= seeds.count);
    if (seeds.count > 1) CHECK(reducing > 0);
}
