// What lowering makes is well formed, whatever the program and its names.
#include "compiler/kernel/verify.h"
#include "compiler/schedule/groupings.h"
#include "compiler/schedule/strategies.h"

#include "analyzed.h"
#include "catch.h"
#include "compare_engines.h"
#include "compiler/lower/lower.h"
#include "examples.h"
#include "random_program.h"
#include "random_schedule.h"

using namespace halo;
using schedule::Strategy;

namespace {

std::string all(const std::vector<std::string>& faults) {
    std::string text;
    for (const std::string& fault : faults)
        text += fault + "\n";
    return text;
}

void check_all_strategies(const ir::Program& program, std::uint64_t seed) {
    CHECK(all(kernel::verify(lower::lower_cpu(program).kernels)) == "");
    test::Random random(seed);
    for (const Strategy& strategy :
         std::vector<Strategy>{schedule::Direct{}, schedule::Tile{}, schedule::Stream{}}) {
        for (int draw = 0; draw < 3; ++draw) {
            const auto schedules = test::random_schedules(program, strategy, random);
            if (schedules.empty()) continue;
            INFO("strategy " << schedule::kind_of(strategy).name << ", draw " << draw);
            CHECK(all(kernel::verify(lower::lower_cuda(program, {schedules}).kernels)) == "");
        }
    }
}

}  // namespace

TEST_CASE("examples are well formed by all strategies and on the CPU") {
    for (const test::Example& example : test::examples()) {
        INFO(example.name);
        check_all_strategies(example.program, 1);
        for (const Strategy& strategy :
             std::vector<Strategy>{schedule::Direct{}, schedule::Tile{}, schedule::Stream{}}) {
            const auto schedules = test::chosen(example, strategy);
            if (schedules.empty()) continue;
            CHECK(all(kernel::verify(lower::lower_cuda(example.program, {schedules}).kernels)) == "");
        }
    }
}

TEST_CASE("examples are well formed by all groupings of steps") {
    int groupings = 0;
    for (const test::Example& example : test::examples()) {
        for (const schedule::GroupingKind& kind : schedule::grouping_kinds()) {
            const schedule::GroupingChoice choice =
                kind.choose({example.program, schedule::Target{}, example.extent, {}, {}});
            if (!choice.grouping) continue;
            INFO(example.name << " by " << kind.name);
            const lower::Lowered lowered =
                lower::lower_cuda(example.program, {test::chosen(example), *choice.grouping});
            CHECK(all(kernel::verify(lowered.kernels)) == "");
            ++groupings;
        }
    }
    CHECK(groupings > 20);
}

TEST_CASE("random programs are well formed by all strategies and on the CPU") {
    const test::Seeds seeds = test::seeds_from_environment(7000, 60);
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        test::GeneratorOptions options;
        options.functions = true;
        const test::RandomProgram source = test::random_program(seed, options);
        INFO(source.describe());
        check_all_strategies(test::load_program(source.text()), seed);
    }
}

TEST_CASE("a spec may use the names that kernels use") {
    // Names in pairs: a state and a param.
    const std::vector<std::pair<std::string, std::string>> pairs{{"i", "j"},
                                                                 {"k", "at"},
                                                                 {"row", "plane"},
                                                                 {"pitch", "slice"},
                                                                 {"u_cells", "u_row"},
                                                                 {"slot", "halo_row"},
                                                                 {"float", "threadIdx"},
                                                                 {"begin", "end"},
                                                                 {"block", "args"},
                                                                 {"nx", "ny"},
                                                                 {"tile_i", "column"},
                                                                 {"halo_column", "first_plane"},
                                                                 {"kCellsX", "kPlanes"},
                                                                 {"s_step", "s_w"},
                                                                 {"value", "sum"},
                                                                 {"near_face", "store_images_u"},
                                                                 {"load4", "fmaf"},
                                                                 {"u_next", "u_prev"},
                                                                 {"double", "kClamp"},
                                                                 {"shared_memory", "first_i"}};
    for (const auto& [field, param] : pairs) {
        const std::string text =
            "stencil s(x, y, z) {\n    param " + param + " = 0.5\n    param coef w[0..2] = [1, 2, 3]\n" +
            "    param coef step[0..1] = [1, 2]\n    field u: f32 { boundary mirror }\n    field " + field +
            ": f32 { boundary clamp }\n    u[t+1] = u[x-1] + w[1] * u[y+1] * " + param + " + step[0] * " +
            field + "[z-1]\n    " + field + "[t+1] = " + field + "[x+1] - " + param + " * " + field +
            "[y-1]\n    reduce largest = max(" + field + ")\n}\n";
        INFO(text);
        check_all_strategies(test::load_program(text), 1);
    }
}
