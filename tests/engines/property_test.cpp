// Random programs on the CPU and on emulated CUDA, by every strategy.
#include "property.h"
#include "catch.h"
#include "compiler/emit/emit.h"
#include "emulated_device.h"
#include "load_cpp.h"
#include "random_schedule.h"
#include "runtime/cpu/cpu_device.h"

using namespace halo;
using namespace halo::test;

namespace {

GeneratorOptions small_programs() {
    GeneratorOptions options;
    options.max_cells = 1200;
    options.tables = true;
    options.points = true;
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
                     return difference(reference, lower::lower_cuda(program, schedules), device, load_cuda);
                 });
}

}  // namespace

TEST_CASE("random programs on the CPU") {
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    check_engine(small_programs(), seeds_from_environment(1, 80),
                 [&](const RandomProgram&, const ir::Program& program, const Reference& reference) {
                     return difference(reference, lower::lower_cpu(program), *device, load_cpp);
                 });
}

TEST_CASE("random programs on emulated CUDA, direct") {
    check_emulated(schedule::Strategy::direct, seeds_from_environment(1001, 60));
}

TEST_CASE("random programs on emulated CUDA, tile") {
    check_emulated(schedule::Strategy::tile, seeds_from_environment(2001, 60));
}

TEST_CASE("random programs on emulated CUDA, stream") {
    check_emulated(schedule::Strategy::stream, seeds_from_environment(3001, 60));
}
