// Programs whose fields lie on several grids: the interpreter, the CPU and emulated CUDA, on grids that
// coarser ones divide and on others.
#include <fmt/format.h>

#include <algorithm>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/ir/analysis.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/legality.h"
#include "compiler/schedule/pipeline.h"
#include "emulated_device.h"
#include "emulator.h"
#include "load_cpp.h"
#include "property.h"
#include "random_schedule.h"
#include "runtime/cpu/cpu_device.h"

using namespace halo;
using namespace halo::test;

namespace {

GeneratorOptions programs_of_grids() {
    GeneratorOptions options;
    options.max_cells = 800;
    options.max_statements = 3;
    options.several_grids = true;
    options.fewer_axes = true;
    return options;
}

}  // namespace

// Most of the time is LLVM's: many texts run once each, on few cells.
[[maybe_unused]] const int kOptimization = halo::emulator::CudaModule::optimization = 0;

TEST_CASE("random programs of several grids on the CPU") {
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    check_engine(programs_of_grids(), seeds_from_environment(11001, 18),
                 [&](const RandomProgram&, const ir::Program& program, const Reference& reference) {
                     return difference(reference, lower::lower_cpu(program), *device, load_cpp);
                 });
}

TEST_CASE("random programs of several grids on emulated CUDA") {
    check_engine(programs_of_grids(), seeds_from_environment(12001, 18),
                 [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
                     Random random(source.seed + 1);
                     const std::vector<schedule::Schedule> schedules =
                         random_schedules(program, schedule::Direct{}, random);
                     if (schedules.empty()) return std::string("no schedule is legal");
                     emulator::EmulatedDevice device;
                     return difference(reference, lower::lower_cuda(program, {schedules}), device, load_cuda);
                 });
}

TEST_CASE("what is read of another grid is the cell that the spec names, on every small grid") {
    const ir::Program program = load_program(R"(
stencil names(x, y) {
    param p = 0.3
    spacing x = 1/2, y = p
    def before() = fine[6*x+5, 6*y-2]
    field fine: f64 { boundary x fixed 0.4, y antisymmetric }
    field coarse: f64 on coarse(3) { boundary x fixed pos(y), y clamp }
    field between: f64 on coarse(6) { boundary symmetric }
    field up, spread: f64
    field v: (x: f64, y: f64) on coarse(3) { boundary clamp }
    field lines: f64 on coarse(3) { boundary fixed 0 }
    between = coarse[2*x+1, 2*y] / 4 + before() / 4 + pos(x) / (8 * len(y))
    v = [fine[3*x-1, 3*y+4], fine[3*(x+1), 3*y] / 2] / 2
    sweep y up { lines = (lines[y-1] + v.x + grad(coarse).y) / 3 }
    up = coarse[(x-1)/3, (y+2)/3] / 4 + coarse[x/3 + 1, (y-4)/3] / 4 + d(lines, x)[x/3, y/3] / 4
    let moved on coarse(3) { boundary mirror } = up[3*x][3*y+2] - d2(fine, x)[3*x+1, 3*y] / 64
    spread = (moved[x/3] + moved[(x+2)/3])[(y-1)/3] / 2
    coarse[t+1] = coarse / 2 + (v.y + between[x/2, (y+1)/2] + moved[x-1]) / 6
    reduce least = min(moved) on coarse(3) on x.high
    reduce mean = mean(between) on coarse(6)
}
)",
                                             false);
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(1);
    const lower::Lowered on_cpu = lower::lower_cpu(program);
    Random random(3);
    const lower::Lowered on_cuda =
        lower::lower_cuda(program, {random_schedules(program, schedule::Direct{}, random)});
    emulator::EmulatedDevice emulated;
    for (std::int64_t y = 6; y <= 12; ++y)
        for (std::int64_t x = 6; x <= 13; ++x) {
            if ((x + y) % 2 == 1 && x > 7) continue;
            const Reference reference(program, {x, y, 1}, 2, 5);
            CAPTURE(x, y);
            CHECK(difference(reference, on_cpu, *device, load_cpp) == "");
            CHECK(difference(reference, on_cuda, emulated, load_cuda) == "");
        }
}

TEST_CASE("grids that coarser ones cannot be made of are refused") {
    const auto refusal = [](const std::string& boundary, const Extent& extent) -> std::string {
        const ir::Program program = load_program(fmt::format(R"(
stencil s(x, y) {{
    field u: f64 {{ boundary clamp }}
    field e: f64 on coarse(4) {{ {} }}
    e = u[4*x, 4*y]
    u[t+1] = u + e[x/4, (y-4)/4]
}}
)",
                                                             boundary),
                                                 false);
        const std::unique_ptr<rt::Device> device = rt::make_cpu_device(1);
        lower::Lowered lowered = lower::lower_cpu(program);
        auto modules = load_cpp(lowered, *device);
        try {
            const rt::Session session(lowered.plan, extent, *device, std::move(modules), {});
        } catch (const rt::Error& error) {
            return error.what();
        }
        return "";
    };
    CHECK(refusal("boundary clamp", {9, 4, 1}) == "");
    CHECK(refusal("boundary clamp", {9, 3, 1}) ==
          "'e' lies on coarse(4), and of 3 cells along y that makes none; give the grid 4 or more");
    CHECK(refusal("boundary x periodic, y clamp", {12, 7, 1}) == "");
    CHECK(
        refusal("boundary x periodic, y clamp", {9, 7, 1}) ==
        "'e' lies on coarse(4) and is periodic along x, where the grid has 9 cells; give it a multiple of 4");
    CHECK(refusal("boundary x clamp, y.low extrapolate 2, y.high clamp", {8, 11, 1}) ==
          "the boundary of 'e' at y.low is computed from 3 cells, and on coarse(4) there are 2 along y; give "
          "the "
          "grid 12 or more");
}

TEST_CASE("programs of several grids are computed by direct, step by step") {
    const ir::Program program = load_program(R"(
stencil s(x, y) {
    field u: f64 { boundary clamp }
    field e: f64 on coarse(2) { boundary clamp }
    e = u[2*x, 2*y]
    u[t+1] = u + e[x/2, y/2]
}
)",
                                             false);
    const ir::Stage stage = ir::form_stages(program).back();
    for (const schedule::Strategy& strategy :
         {schedule::Strategy(schedule::Tile{}), schedule::Strategy(schedule::Stream{})}) {
        schedule::Schedule schedule;
        schedule.strategy = strategy;
        schedule.threads = {32, 1, 1};
        const std::vector<schedule::Reason> reasons =
            schedule::check(program, stage, schedule, schedule::Target{});
        CHECK(std::ranges::any_of(reasons, [](const schedule::Reason& reason) {
            return reason.text.find("a stage of several grids runs as direct") != std::string::npos;
        }));
    }
    const auto pipeline = schedule::form_pipeline(program, 2);
    REQUIRE(std::holds_alternative<std::string>(pipeline));
    CHECK(std::get<std::string>(pipeline) == "its fields lie on several grids");
}
