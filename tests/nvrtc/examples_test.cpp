// Every example's kernels, and random programs', through NVRTC to sm_90.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzed.h"
#include "catch.h"
#include "compare_engines.h"
#include "compiler/emit/emit.h"
#include "compiler/ir/analysis.h"
#include "compiler/passes/recompute_terms.h"
#include "compiler/schedule/cost.h"
#include "compiler/schedule/defaults.h"
#include "compiler/schedule/print.h"
#include "examples.h"
#include "random_program.h"
#include "random_schedule.h"
#include "runtime/nvrtc/nvrtc.h"
#include "skip.h"

namespace {

using namespace halo;
using schedule::Strategy;

#ifndef HALO_EXPECT_NVRTC
const SkipUnless found(rt::Nvrtc::find() != nullptr, rt::Nvrtc::why_missing());
#endif

// quickly: whether NVRTC takes them is asked, and not how well it compiles them; half the time.
std::vector<rt::KernelUsage> compile(const std::string& name, const lower::Lowered& lowered, bool quickly) {
    REQUIRE(rt::Nvrtc::find() != nullptr);
    rt::NvrtcOptions options;
    if (quickly && rt::Nvrtc::find()->major() >= 13) options.extra = {"--Ofast-compile=mid"};
    const rt::CompiledCuda compiled =
        rt::Nvrtc::find()->compile(emit::print_cuda(lowered.kernels), name + ".cu", options);
    std::set<std::string> functions;  // a kernel of a halo may run several times in a step
    for (const rt::KernelPlan& kernel : lowered.plan.kernels)
        functions.insert(kernel.name);
    // A kernel that does several steps stands beside those of a single one.
    CHECK(compiled.usage.size() == functions.size() + (lowered.plan.time_block ? 1 : 0));
    return compiled.usage;
}

const schedule::Schedule& schedule_of(const rt::KernelUsage& usage, const lower::Lowered& lowered,
                                      const std::vector<schedule::Schedule>& schedules) {
    const auto& kernels = lowered.plan.kernels;
    const auto kernel = std::find_if(kernels.begin(), kernels.end(),
                                     [&](const rt::KernelPlan& each) { return each.name == usage.name; });
    REQUIRE(kernel != kernels.end());
    const auto is_of_stage = [](const rt::KernelPlan& each) {
        return each.domain.kind == rt::Domain::Kind::grid && !each.fills_halo && each.blocks == 0;
    };
    static const schedule::Schedule others;  // kernels of halos, of a table's columns, of a repeat's end
    if (!is_of_stage(*kernel)) return others;
    // A stage's second kernel, for steps without results, comes right after its first.
    const auto begins_stage = [&](const rt::KernelPlan& each) {
        return is_of_stage(each) && each.steps != rt::Steps::without_results;
    };
    return schedules.at(
        static_cast<std::size_t>(std::count_if(kernels.begin(), kernel + 1, begins_stage) - 1));
}

// A block's threads get their registers, in the hardware's portions of eight, and the kernel needs no others.
void check_usage(const rt::KernelUsage& usage, const schedule::Schedule& schedule, bool whole_in_registers) {
    const schedule::Target target;
    const int threads = schedule.threads[0] * schedule.threads[1] * schedule.threads[2];
    const int portion = (usage.registers + 7) / 8 * 8;
    CHECK(usage.registers <= target.max_registers_per_thread);
    CHECK(portion * threads * std::max(1, schedule.min_blocks) <= target.registers_per_sm);
    if (!whole_in_registers) return;
    CHECK(usage.stack_bytes == 0);
    CHECK(usage.spill_store_bytes == 0);
    CHECK(usage.spill_load_bytes == 0);
}

void check_example(const test::Example& example, const std::vector<schedule::Schedule>& schedules,
                   bool whole_in_registers) {
    const lower::Lowered lowered = lower::lower_cuda(example.program, {schedules});
    for (const rt::KernelUsage& usage : compile(example.name, lowered, !whole_in_registers)) {
        const schedule::Schedule& schedule = schedule_of(usage, lowered, schedules);
        INFO(usage.name << " by " << schedule::print(schedule, example.program.rank()) << " has "
                        << usage.registers << " registers, " << usage.stack_bytes << " bytes of stack");
        check_usage(usage, schedule, whole_in_registers);
    }
}

}  // namespace

TEST_CASE("examples run in registers alone by the schedules chosen for them") {
    for (const test::Example& example : test::examples()) {
        const auto schedules = test::chosen(example);
        REQUIRE(!schedules.empty());
        check_example(example, schedules, true);
    }
}

TEST_CASE("examples compile by every strategy's defaults") {
    int compiled = 0;
    for (const test::Example& example : test::examples()) {
        for (const Strategy& strategy :
             std::vector<Strategy>{schedule::Direct{}, schedule::Tile{}, schedule::Stream{}}) {
            const auto schedules = test::chosen(example, strategy);
            if (schedules.empty() || schedules == test::chosen(example)) continue;
            check_example(example, schedules, false);
            ++compiled;
        }
    }
    CHECK(compiled > 10);
}

TEST_CASE("steps back of a wave are one sweep without spills") {
    for (const auto& [type, order] :
         std::vector<std::pair<std::string, int>>{{"f32", 4}, {"f32", 8}, {"f64", 4}}) {
        const std::string text = fmt::format(R"(stencil back(x, y, z) {{
            param dt = 0.3
            field v, q, g: {0}
            field u: {0} {{ boundary fixed 0 }}
            let term {{ boundary fixed 0 }} = (v * dt)^2 * q
            q[t+1] = 2*q - q[t-1] + laplacian(term, order={1})
            g[t+1] = g + 2 * dt * v * dt * laplacian(u, order={1}) * q
        }})",
                                             type, order);
        const ir::Program program = *passes::recompute_terms(test::load_program(text));
        const std::vector<ir::Stage> stages = ir::form_stages(program);
        REQUIRE(stages.size() == 1);
        const schedule::Schedule chosen =
            schedule::choose(program, stages.front(), schedule::Target(), schedule::typical_extent(3))
                .schedule;
        CHECK(std::holds_alternative<schedule::Stream>(chosen.strategy));
        check_example({"back", program}, {chosen}, true);
    }
}

TEST_CASE("random programs compile by every strategy") {
    constexpr std::uint64_t kFirst = 4000, kPrograms = 30;
    const test::Seeds seeds = test::seeds_from_environment(kFirst, kPrograms);
    std::size_t compiled = 0;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        test::GeneratorOptions options;
        options.functions = seed % 2 == 0;
        const test::RandomProgram source = test::random_program(seed, options);
        const ir::Program program = test::load_program(source.text());
        test::Random random(seed);
        for (const Strategy& strategy :
             std::vector<Strategy>{schedule::Direct{}, schedule::Tile{}, schedule::Stream{}}) {
            const auto schedules = test::random_schedules(program, strategy, random);
            if (schedules.empty()) continue;
            INFO(source.describe() << schedule::print(schedules.front(), program.rank()));
            const lower::Lowered lowered = lower::lower_cuda(program, {schedules});
            for (const rt::KernelUsage& usage : compile("random", lowered, true))
                check_usage(usage, schedule_of(usage, lowered, schedules), false);
            ++compiled;
        }
    }
    CHECK(compiled > 2 * seeds.count);
}
