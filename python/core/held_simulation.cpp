#include <algorithm>
#include <chrono>
#include <utility>

#include "held_simulation.h"

namespace halocline::python {

namespace {

constexpr double kBatchSeconds = 0.1;  // between two looks at signals
constexpr std::int64_t kFirstCells =
    std::int64_t{1} << 23;  // cells times steps of the first batch: also a busy CPU does them soon
constexpr std::int64_t kMostGrowth = 8;  // of a batch over the one before

}  // namespace

const FieldInfo& HeldSimulation::field_info(const std::string& name) const {
    const std::vector<FieldInfo>& fields = simulation_.info().fields;
    const auto found = std::ranges::find(fields, name, &FieldInfo::name);
    if (found != fields.end()) return *found;
    throw Error(ErrorCode::bad_argument, "'" + simulation_.info().name + "' has no field '" + name + "'");
}

Taken HeldSimulation::take(const std::string& name, int level) {
    const FieldInfo& info = field_info(name);
    const std::lock_guard<std::mutex> lock(mutex_);
    auto found = held_.find(name);
    if (found == held_.end())
        found = held_.emplace(name, Held{simulation_.field(name), info, {}, false}).first;
    Held& held = found->second;
    std::shared_ptr<const Lease> lease = held.lease.lock();
    if (lease == nullptr) {
        lease = std::make_shared<const Lease>(Lease{held.field});
        held.lease = lease;
    }
    const View view = held.field.view(level);
    held.was_given = true;
    return {std::move(lease), view, info};
}

// Before steps. Inputs are written by no step, so they stay.
void HeldSimulation::leave_taken_arrays() {
    for (auto& [name, held] : held_) {
        if (!held.was_given) continue;
        held.field.changed();
        const bool is_taken = !held.lease.expired();
        if (held.info.role != Role::input && is_taken) {
            Field own = held.field.copy();
            simulation_.bind(name, own);
            held.field = std::move(own);
            held.lease.reset();
        }
        held.was_given = held.info.role == Role::input && is_taken;
    }
}

Simulation::Stepped HeldSimulation::batch(std::int64_t count, const Condition* condition, std::int64_t every,
                                          bool wait) {
    const std::lock_guard<std::mutex> lock(mutex_);
    leave_taken_arrays();
    if (condition != nullptr) return simulation_.step_until(*condition, count, every);
    simulation_.step(count);
    if (wait) simulation_.wait();
    return {count, false};
}

void HeldSimulation::with_own_arrays(const std::function<void()>& work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    leave_taken_arrays();
    work();
}

std::int64_t HeldSimulation::first_batch() const {
    std::int64_t cells = 1;
    for (const std::int64_t extent : simulation_.grid())
        cells = std::min(cells * extent, kFirstCells);
    return kFirstCells / cells;
}

Simulation::Stepped HeldSimulation::advance(std::int64_t count, const Condition* condition,
                                            std::int64_t every,
                                            const std::function<void(std::int64_t done)>& between) {
    if (count < 1 || every < 1) return batch(count, condition, every, false);  // refuses what is less
    Simulation::Stepped all;
    std::int64_t steps = first_batch();
    while (all.steps < count && !all.holds) {
        // Whole intervals, so that the condition is looked at after the same steps as in one batch.
        if (condition != nullptr) steps = std::max(steps / every, std::int64_t{1}) * every;
        const std::int64_t now = std::min(steps, count - all.steps);
        const auto begin = std::chrono::steady_clock::now();
        const Simulation::Stepped done = batch(now, condition, every, all.steps + now < count);
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        all.steps += done.steps;
        all.holds = done.holds;
        between(all.steps);
        const double factor = kBatchSeconds / std::max(seconds, 1e-6);
        const double wanted = static_cast<double>(now) * std::min(factor, static_cast<double>(kMostGrowth));
        steps = std::max(static_cast<std::int64_t>(std::min(wanted, 1e15)), std::int64_t{1});
    }
    return all;
}

}  // namespace halocline::python
