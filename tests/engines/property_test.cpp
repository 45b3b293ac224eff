// Random programs on the CPU and on emulated CUDA, by every strategy.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "catch.h"
#include "compiler/emit/emit.h"
#include "compiler/kernel/verify.h"
#include "compiler/lower/fixed_grid.h"
#include "emulated_device.h"
#include "emulator.h"
#include "load_cpp.h"
#include "property.h"
#include "random_schedule.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/plan_json.h"
#include "runtime/cpu/cpu_device.h"

using namespace halo;
using namespace halo::test;

namespace {

GeneratorOptions small_programs() {
    GeneratorOptions options;
    options.max_cells = 1200;
    options.tables = true;
    options.series = true;
    options.points = true;
    options.fewer_axes = true;
    options.stretched = true;
    options.sweeps = true;
    options.repeats = true;
    options.shared_cells = true;
    return options;
}

void check_emulated(schedule::Strategy strategy, Seeds seeds) {
    check_engine(small_programs(), seeds,
                 [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
                     Random random(source.seed + 1);
                     const std::vector<schedule::Schedule> schedules =
                         random_schedules(program, strategy, random);
                     if (schedules.empty()) return std::string();
                     emulator::EmulatedDevice device;
                     return difference(reference, lower::lower_cuda(program, {schedules}), device, load_cuda);
                 });
}

// All that can be read after a step.
std::vector<std::vector<double>> results_of(rt::Session& session) {
    std::vector<std::vector<double>> results;
    for (const rt::ReductionPlan& reduction : session.plan().reductions)
        if (reduction.ahead_of < 0) results.push_back({session.reduction(reduction.name)});
    for (const rt::FieldPlan& field : session.plan().fields)
        for (int time = 0; field.role != rt::Role::intermediate && time >= -field.history; --time)
            results.push_back(session.download(field.name, time));
    return results;
}

bool have_same_bits(const std::vector<double>& first, const std::vector<double>& second) {
    return std::ranges::equal(first, second, [](double a, double b) {
        return std::bit_cast<std::int64_t>(a) == std::bit_cast<std::int64_t>(b);
    });
}

// What differs where steps are asked for several at a time, in random parts, from asking for each.
std::string parts_difference(const Reference& reference, const lower::Lowered& lowered, rt::Device& device,
                             const Load& load, const rt::TimeTileOptions& tiles, Random random) {
    rt::SessionOptions options;
    options.poison = true;
    options.time_tiles = tiles;
    std::vector<std::vector<std::vector<double>>> expected;  // [step]
    rt::Session single(lowered.plan, reference.extent, device, load(lowered, device), options);
    std::string wrong = difference(
        reference, single,
        [&] {
            for (int step = 0; step < reference.steps; ++step) {
                single.step();
                expected.push_back(results_of(single));
            }
        },
        0);
    if (!wrong.empty()) return "one by one: " + wrong;
    rt::Session session(lowered.plan, reference.extent, device, load(lowered, device), options);
    const auto in_parts = [&] {
        for (int done = 0; done < reference.steps;) {
            const int part = random.between(1, reference.steps - done);
            session.step(part);
            done += part;
            const auto results = results_of(session);
            if (!std::ranges::equal(results, expected[static_cast<std::size_t>(done - 1)], have_same_bits))
                wrong = fmt::format("{} steps that end with step {} differ from single ones", part, done);
        }
    };
    const std::string at_end = difference(reference, session, in_parts, 0);
    return wrong.empty() ? at_end : wrong;
}

void check_in_parts(const GeneratorOptions& options, Seeds seeds) {
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    std::uint64_t with_unread = 0;
    check_engine(
        options, seeds,
        [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
            Random random(source.seed + 1);
            const lower::Lowered on_cpu = lower::lower_cpu(program);
            with_unread += rt::has_unread_steps(on_cpu.plan) ? 1 : 0;
            const rt::TimeTileOptions tiles{random.pick<int>({1, 2, 3}), random.pick<int>({0, 1, 2})};
            const std::string wrong = parts_difference(reference, on_cpu, *device, load_cpp_unoptimized,
                                                       tiles, Random(source.seed + 2));
            if (!wrong.empty()) return "on the CPU: " + wrong;
            const auto strategy =
                random.pick<schedule::Strategy>({schedule::Direct{}, schedule::Tile{}, schedule::Stream{}});
            const std::vector<schedule::Schedule> schedules = random_schedules(program, strategy, random);
            if (schedules.empty()) return std::string();
            emulator::EmulatedDevice emulated;
            return parts_difference(reference, lower::lower_cuda(program, {schedules}), emulated, load_cuda,
                                    {}, Random(source.seed + 3));
        },
        6);
    CHECK(with_unread * 2 >= seeds.count);
}

}  // namespace

// Most of the time is LLVM's: many texts run once each, on few cells.
[[maybe_unused]] const int kOptimization = halo::emulator::CudaModule::optimization = 0;

TEST_CASE("random programs whose steps are asked for in parts") {
    GeneratorOptions options = small_programs();
    options.max_statements = 6;
    check_in_parts(options, seeds_from_environment(12001, 60));
}

TEST_CASE("random chains whose steps are asked for in parts") {
    GeneratorOptions options;
    options.max_cells = 1200;
    options.max_statements = 6;
    options.fewer_axes = true;
    options.chains = true;
    check_in_parts(options, seeds_from_environment(310001, 30));
}

TEST_CASE("random programs on the CPU") {
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    check_engine(small_programs(), seeds_from_environment(1, 80),
                 [&](const RandomProgram&, const ir::Program& program, const Reference& reference) {
                     return difference(reference, lower::lower_cpu(program), *device, load_cpp);
                 });
}

TEST_CASE("random programs in time tiles on the CPU") {
    const std::unique_ptr<rt::Device> devices[] = {rt::make_cpu_device(1), rt::make_cpu_device(2),
                                                   rt::make_cpu_device(3)};
    const Seeds seeds = seeds_from_environment(8001, 150);
    std::uint64_t tiled = 0;
    GeneratorOptions options = small_programs();
    options.points = false;
    options.repeats = false;  // time tiles take none
    options.max_statements = 3;
    check_engine(
        options, seeds,
        [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
            const lower::Lowered lowered = lower::lower_cpu(program);
            Random random(source.seed + 1);
            for (const auto& device : devices) {
                const rt::TimeTileOptions tiles{random.pick<int>({2, 3, 4}), random.pick<int>({0, 1, 2, 5})};
                int steps_at_once = 1;
                const std::string wrong =
                    difference(reference, lowered, *device, load_cpp_unoptimized, 0, tiles, &steps_at_once);
                tiled += steps_at_once > 1 ? 1 : 0;
                if (!wrong.empty())
                    return fmt::format("{} steps at once, strips of {} rows: {}", tiles.steps, tiles.rows,
                                       wrong);
            }
            return std::string();
        },
        7);
    CHECK(tiled * 5 >= seeds.count * 2);
}

TEST_CASE("random programs on emulated CUDA, direct") {
    check_emulated(schedule::Direct{}, seeds_from_environment(1001, 60));
}

TEST_CASE("random programs with components side by side") {
    GeneratorOptions options = small_programs();
    options.interleaved = true;
    options.f64 = false;
    options.max_statements = 8;
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    const Seeds seeds = seeds_from_environment(7001, 60);
    std::uint64_t interleaved = 0;
    check_engine(options, seeds,
                 [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
                     interleaved += std::any_of(program.groups.begin(), program.groups.end(),
                                                [](const ir::Group& group) { return group.interleaved; })
                                        ? 1
                                        : 0;
                     const std::string on_cpu =
                         difference(reference, lower::lower_cpu(program), *device, load_cpp_unoptimized);
                     if (!on_cpu.empty()) return "on the CPU: " + on_cpu;
                     Random random(source.seed + 1);
                     const std::vector<schedule::Schedule> schedules =
                         random_schedules(program, schedule::Direct{}, random);
                     if (schedules.empty()) return std::string();
                     emulator::EmulatedDevice emulated;
                     return difference(reference, lower::lower_cuda(program, {schedules}), emulated,
                                       load_cuda);
                 });
    CHECK(interleaved * 4 >= seeds.count);  // many have fields that can lie so
}

TEST_CASE("random programs on emulated CUDA, for their grid alone") {
    const Seeds seeds = seeds_from_environment(9001, 90);
    std::uint64_t shorter = 0;
    check_engine(
        small_programs(), seeds,
        [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
            Random random(source.seed + 1);
            const auto strategy =
                random.pick<schedule::Strategy>({schedule::Direct{}, schedule::Tile{}, schedule::Stream{}});
            const std::vector<schedule::Schedule> schedules = random_schedules(program, strategy, random);
            if (schedules.empty()) return std::string();
            lower::Lowered lowered = lower::lower_cuda(program, {schedules});
            const std::size_t before = emit::print_cuda(lowered.kernels).size();
            lower::fix_grid(lowered, reference.extent);
            shorter += emit::print_cuda(lowered.kernels).size() < before ? 1 : 0;
            const std::vector<std::string> faults = kernel::verify(lowered.kernels);
            if (!faults.empty()) return faults.front();
            emulator::EmulatedDevice device;
            return difference(reference, lowered, device, load_cuda);
        });
    CHECK(shorter * 4 >= seeds.count);  // though their headings are longer
}

TEST_CASE("code for one grid is refused on others, and its plan says which one it is for") {
    const ir::Program program = load_program(
        "stencil s(x, y) {\n    field u: f32 { boundary clamp }\n    u[t+1] = u[x-1] + u[y+1]\n}\n");
    schedule::Schedule direct;
    direct.threads = {32, 4, 1};
    lower::Lowered lowered = lower::lower_cuda(program, {{direct}});
    lower::fix_grid(lowered, {40, 9, 1});
    const rt::LaunchPlan plan = rt::plan_from_json(rt::plan_to_json(lowered.plan));
    REQUIRE(plan.fixed_grid);
    CHECK(plan.fixed_grid->extent == Extent{40, 9, 1});
    CHECK(plan.fixed_grid->pitch == lowered.plan.fixed_grid->pitch);
    emulator::EmulatedDevice device;
    const auto refusal = [&](const Extent& extent, const rt::SessionOptions& options) -> std::string {
        try {
            const rt::Session session(plan, extent, device, load_cuda(lowered, device), options);
            return "";
        } catch (const rt::Error& error) {
            CHECK(error.code() == rt::ErrorCode::bad_argument);
            return error.what();
        }
    };
    CHECK(refusal({40, 9, 1}, {}) == "");
    CHECK(refusal({40, 10, 1}, {}) ==
          "the code of 's' is for a grid of 40 x 9 cells alone, and this one has 40 x 10");
    rt::SessionOptions wider;
    wider.geometry = rt::view_geometry(2, {40, 9, 1}, plan.halo, rt::RowLayout::padded, 160, 0);
    CHECK(refusal({40, 9, 1}, wider) ==
          "the code of 's' is for arrays with rows 96 elements apart, and these have 160");
}

TEST_CASE("random programs on emulated CUDA, tile") {
    check_emulated(schedule::Tile{}, seeds_from_environment(2001, 60));
}

TEST_CASE("random programs on emulated CUDA, stream") {
    check_emulated(schedule::Stream{}, seeds_from_environment(3001, 60));
}
