#include "runtime/core/session/stepper.h"

namespace halo::rt::session {

Parts::Parts(LaunchPlan plan, const std::array<std::int64_t, kMaxRank>& extent, Device& device,
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
