#include "compiler/driver/command/lift_gain.h"

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/schedule/cost.h"
#include "compiler/support/error.h"

namespace halo::driver {

std::optional<LiftGain> lift_gain(const std::string& spec, const std::optional<schedule::Extent>& extent,
                                  const TargetHere& here) {
    const CheckedSpec checked = check_text("lifted.halo", spec);
    if (!checked.ok || checked.analysis.stencils.empty()) throw InternalError("a lifted spec has mistakes");
    CodeOptions options;
    options.target = here.target;
    try {
        const ir::Program program = optimize(checked.analysis.stencils.front().program, options);
        LiftGain gain;
        gain.is_typical = !extent.has_value();
        gain.extent = extent.value_or(schedule::typical_extent(program.rank()));
        options.extent = gain.extent;
        const PlanChoice choice = choose_plan(program, options);
        for (const StageChoice& each : choice.stages) {
            gain.bytes += each.footprint.bytes();
            gain.flops += static_cast<double>(each.footprint.operations.flops());
        }
        gain.cells_per_second = schedule::cells_of(gain.extent) / choice.seconds_per_step();
        return gain;
    } catch (const CommandError&) {
        return std::nullopt;
    } catch (const UnsupportedError&) {
        return std::nullopt;
    }
}

}  // namespace halo::driver
