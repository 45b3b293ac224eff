// Programs whose fields lie on several grids: the interpreter, the CPU and emulated CUDA, on grids that coarser
// ones divide and on others.
#include "catch.h"
#include "compare_engines.h"
#include "compiler/lower/lower.h"
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

TEST_CASE("random programs of several grids on the CPU") {
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    check_engine(programs_of_grids(), seeds_from_environment(11001, 25),
                 [&](const RandomProgram&, const ir::Program& program, const Reference& reference) {
                     return difference(reference, lower::lower_cpu(program), *device, load_cpp);
                 });
}

TEST_CASE("random programs of several grids on emulated CUDA") {
    check_engine(programs_of_grids(), seeds_from_environment(12001, 25),
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
    field fine: f64 { boundary fixed 100 }
    field coarse: f64 on coarse(3) { boundary x fixed 1000, y clamp }
    field up: f64
    field down: f64 on coarse(3)
    field between: f64 on coarse(6) { boundary antisymmetric }
    up = coarse[(x-1)/3, (y+2)/3] + coarse[x/3 + 1, (y-4)/3]
    down = fine[3*x-1, 3*y+4] + fine[3*(x+1), 3*y]
    between = coarse[2*x+1, 2*y] + between_before()
    def between_before() = fine[6*x+5, 6*y-2]
    coarse[t+1] = coarse + down + between[x/2, (y+1)/2]
}
)",
                                             false);
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(1);
    const lower::Lowered lowered = lower::lower_cpu(program);
    for (std::int64_t y = 6; y <= 13; ++y)
        for (std::int64_t x = 6; x <= 13; ++x) {
            const Reference reference(program, {x, y, 1}, 2, 5);
            CAPTURE(x, y);
            CHECK(difference(reference, lowered, *device, load_cpp) == "");
        }
}
