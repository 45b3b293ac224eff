// Ways to do time steps, behind one interface. Not for other rooms.
//
// A session asks its steppers in order: the time block's, then, for what that leaves, replayed recordings,
// time tiles, and single launches, which do any number. What comes out is the same whichever does a step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/core/session/kept_arrays.h"
#include "runtime/core/session/launches.h"

namespace halo::rt::session {

// What steppers work on.
struct Parts {
    Parts(LaunchPlan plan, const Extent& extent, Device& device, std::vector<std::unique_ptr<Module>> modules,
          const SessionOptions& options);
    Parts(const Parts&) = delete;  // its members refer to each other
    Parts& operator=(const Parts&) = delete;

    Setup setup;
    Clock clock;
    Due due;
    Params params;
    Kernels kernels;
    Arrays arrays;
    KeptArrays kept;
    Coefs coefs;
    Tables tables;
    PointSets points;
    Reductions reductions;
    Iterations iterations;
    Launches launches;
};

// Steps up to the next full one (LaunchPlan::full_steps), which is the last of them, or to the last before
// other kernels run (KernelPlan::within), which leaves its outputs to these.
struct StepsAlike {
    std::int64_t count = 0;
    bool is_full = false;  // false: none of them is
};
StepsAlike to_full_step(const Parts& parts, std::int64_t most);

// Whether cells of a field can be copied from one to the other on the device.
bool has_like_cells(const Parts& here, int field, const Parts& there, int other);
// Whether the one, an input, can be read in an array of the other: it has like cells in the same places, and
// the same images of them past each face.
bool can_borrow(const Parts& here, int field, const Parts& there, int other);

class Stepper {
public:
    virtual ~Stepper() = default;
    // Does some of the next `count` steps, advances the clock, and returns how many; 0 where it can do none
    // now. with_results: outputs, reductions and traces are to be those of the last of them, which a stepper
    // leaves to others where all its steps are without.
    virtual std::int64_t step(std::int64_t count, bool with_results) = 0;
    // The arguments of launches have changed; what was prepared with the former ones is void.
    virtual void prepare(const std::vector<double>& params) = 0;
};

// A recording of each(0) … each(count - 1).
std::unique_ptr<Recording> record(Device& device, std::int64_t count,
                                  const std::function<void(std::int64_t number)>& each);

}  // namespace halo::rt::session
