#include "runtime/core/session/stepper.h"

#include <algorithm>

#include "runtime/core/plan_check.h"

namespace halo::rt::session {

Parts::Parts(LaunchPlan plan, const Extent& extent, Device& device,
             std::vector<std::unique_ptr<Module>> modules, const SessionOptions& options)
    : setup(std::move(plan), extent, device, options),
      clock(setup.plan),
      params(setup.plan),
      kernels(setup, std::move(modules)),
      arrays(setup, clock, kernels, due),
      kept(setup, arrays, params),
      coefs(setup, kernels),
      tables(setup, due),
      points(setup, clock, due),
      reductions(setup, clock, kernels),
      iterations(setup),
      launches({setup, clock, kernels, arrays, coefs, tables, points, reductions, iterations}) {}

StepsAlike to_full_step(const Parts& parts, std::int64_t most) {
    const LaunchPlan& plan = parts.setup.plan;
    const std::int64_t left =
        steps_of_same_kernels(plan, parts.clock.steps_done).past - parts.clock.steps_done;
    const bool are_last = left <= most;
    most = std::min(most, left);
    const std::vector<HostScalar>& conditions = plan.full_steps;
    if (conditions.empty()) return {most, are_last};
    const std::vector<double> params = parts.params.values();
    for (std::int64_t count = 1; count <= most; ++count) {
        const auto number = static_cast<double>(parts.clock.steps_done + count - 1);
        const auto holds = [&](const HostScalar& condition) {
            return rt::evaluate(condition, params, parts.setup.geometry.extent, number) != 0;
        };
        if (std::ranges::any_of(conditions, holds)) return {count, true};
    }
    return {most, are_last};
}

std::unique_ptr<Recording> record(Device& device, std::int64_t count,
                                  const std::function<void(std::int64_t number)>& each) {
    device.begin_recording();
    try {
        for (std::int64_t number = 0; number < count; ++number)
            each(number);
    } catch (...) {
        // Ends the recording before the exception leaves; what went wrong first is what counts.
        try {
            device.end_recording();
        } catch (const Error&) {
        }
        throw;
    }
    return device.end_recording();
}

}  // namespace halo::rt::session
