// A Simulation as Python holds it, with the fields that were taken out of it.
//
// An array that Python was given keeps its values: before steps that would write to its memory, the
// simulation moves to arrays of its own, with a copy of what they hold (docs/python.md, ADR 24).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "halocline/runtime.hpp"

namespace halocline::python {

// Held by all that shows the arrays of a Field to others.
struct Lease {
    Field field;
};

// A level of a field, and what keeps its memory.
struct Taken {
    std::shared_ptr<const Lease> lease;
    View view;
    FieldInfo info;
};

class HeldSimulation {
public:
    HeldSimulation(const Program& program, const std::vector<Device>& devices, const Grid& grid,
                   const SimulationOptions& options)
        : devices_(devices), simulation_(program, devices, grid, options) {}

    // Of one on one device, that there is.
    HeldSimulation(const Simulation& simulation, const std::vector<Device>& devices)
        : devices_(devices), simulation_(simulation) {}

    // For calls that do no steps, and hand out no arrays.
    Simulation& simulation() { return simulation_; }
    const std::vector<Device>& devices() const { return devices_; }
    const FieldInfo& field_info(const std::string& name) const;

    Taken take(const std::string& field, int level);

    // Steps in batches of a fraction of a second each. between(done) is called after each, by the calling
    // thread; without a condition the device may still be at the last one. What it throws ends the run.
    Simulation::Stepped advance(std::int64_t count, const Condition* condition, std::int64_t every,
                                const std::function<void(std::int64_t done)>& between);

    // Calls work(), which does steps, with no array of Python's in the way.
    void with_own_arrays(const std::function<void()>& work);

private:
    struct Held {
        Field field;
        FieldInfo info;
        std::weak_ptr<const Lease> lease;
        bool was_given = false;  // since the last steps: its cells may have been changed
    };
    void leave_taken_arrays();
    Simulation::Stepped batch(std::int64_t count, const Condition* condition, std::int64_t every, bool wait);
    std::int64_t first_batch() const;

    std::vector<Device> devices_;
    Simulation simulation_;
    std::mutex mutex_;  // of held_, and so that no array is taken while a batch is done
    std::map<std::string, Held> held_;
};

}  // namespace halocline::python
