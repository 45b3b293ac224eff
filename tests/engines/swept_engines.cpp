#include "swept_engines.h"

#include <fmt/format.h>

#include "compare_engines.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/interpreter.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/footprint.h"
#include "emulated_device.h"
#include "emulator.h"
#include "load_cpp.h"
#include "random_schedule.h"
#include "runtime/cpu/cpu_device.h"

namespace halo::test {
namespace {

bool goes_along_rows(const schedule::Footprint& footprint) {
    return footprint.swept_axis == 0 && !footprint.swept_within;
}

}  // namespace

std::string swept_difference(const std::string& text, int most) {
    const ir::Program program = load_program(text, false);
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    const lower::Lowered on_cpu = lower::lower_cpu(program);
    Random random(3);
    std::vector<schedule::Schedule> schedules = random_schedules(program, schedule::Direct{}, random);
    const lower::Lowered on_cuda = lower::lower_cuda(program, {schedules});
    // Lines of a warp along the first axis, which pass through shared memory where they can.
    const std::vector<ir::Stage> stages = ir::form_stages(program);
    for (std::size_t i = 0; i < stages.size(); ++i)
        if (program.rank() > 1 && goes_along_rows(schedule::footprint(program, stages[i])))
            schedules[i].threads = {1, 32, 1};
    const lower::Lowered by_warps = lower::lower_cuda(program, {schedules});
    const auto wrong_on = [&](const Extent& extent) -> std::string {
        const Reference reference(program, extent, 2, 7);
        const std::string where = fmt::format("{}x{}x{} cells: ", extent[0], extent[1], extent[2]);
        std::string wrong = difference(reference, on_cpu, *device, load_cpp);
        if (!wrong.empty()) return "on the CPU, " + where + wrong;
        emulator::EmulatedDevice emulated;
        wrong = difference(reference, on_cuda, emulated, load_cuda);
        if (!wrong.empty()) return "on emulated CUDA, " + where + wrong;
        wrong = difference(reference, by_warps, emulated, load_cuda);
        return wrong.empty() ? "" : "on emulated CUDA by warps, " + where + wrong;
    };
    const auto along = [&](int axis) { return program.rank() > axis ? most : 1; };
    std::vector<Extent> extents;
    for (std::int64_t z = 1; z <= along(2); ++z)
        for (std::int64_t y = 1; y <= along(1); ++y)
            for (std::int64_t x = 1; x <= along(0); ++x)
                extents.push_back({x, y, z});
    for (int axis = 0; axis < program.rank(); ++axis) {
        extents.push_back({1, 1, 1});
        for (int other = 0; other < program.rank(); ++other)
            extents.back()[static_cast<std::size_t>(other)] = other == axis ? 133 : 3;
    }
    for (const Extent& extent : extents)
        if (std::string wrong = wrong_on(extent); !wrong.empty()) return wrong;
    return {};
}

std::vector<double> after_step(const std::string& text, const std::string& field, const Extent& extent) {
    const ir::Program program = load_program(text, false);
    ir::Interpreter interpreter(program, extent, ir::Arithmetic::declared);
    std::vector<double>& values = interpreter.field("u");
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = 1 + static_cast<double>(i);
    interpreter.step();
    return interpreter.field(field);
}

}  // namespace halo::test
