// What the chooser and the tuner's list have in common: schedules of which the pipeline, a thread's cells and
// the number of warps are given get their other settings. Not for other rooms.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/schedule/temporal.h"

namespace halo::schedule {

// How many cells of a row a thread may have, most first.
inline std::vector<int> columns_of(const Pipeline& pipeline) {
    return pipeline.is_packed() ? std::vector{16, 8, 4} : std::vector{4, 2, 1};
}

// Blocks that fit on an SM by shared memory and threads.
int blocks_in_shared(const Target& target, const TemporalShape& shape, int warps);

// Completes schedules of which the pipeline, a thread's cells and the number of warps are given.
class TemporalSettler {
public:
    TemporalSettler(const ir::Program& program, const Target& target, const Extent& extent,
                    const TemporalPins& pins, const std::vector<std::string>& watched);

    // For one of the program's passes.
    TemporalSettler(const TemporalSettler& whole, const ir::Program& pass, const TemporalPins& pins)
        : core(pass), target_(whole.target_), extent_(whole.extent_), pins_(pins) {}

    // Why the program, or the run, cannot do several steps at once; else empty.
    const std::string& refused() const { return refused_; }
    // Of a program that repeats statements: the repeat whose iterations are the steps.
    const std::optional<Iterations>& iterations() const { return iterations_; }
    const std::string& unwatched() const { return unwatched_; }

    struct Settled {
        TemporalSchedule schedule;
        TemporalShape shape;
        double seconds = 0;  // of a cell and step
    };

    // The other settings get their usual values. None: the schedule cannot be built, and `why` says why.
    std::optional<Settled> settle(const Pipeline& pipeline, const std::array<int, 2>& cells, int warps,
                                  double register_room, std::string& why) const;

    // Why the schedule cannot be built, or spills; else empty.
    std::string unfit(const Pipeline& pipeline, const TemporalShape& shape, const TemporalSchedule& schedule,
                      double register_room) const;

    std::vector<int> blocks_of(const Pipeline& pipeline, const TemporalShape& shape,
                               const TemporalSchedule& schedule) const;

    double seconds_of(const Pipeline& pipeline, const TemporalShape& shape,
                      const TemporalSchedule& schedule) const;

    ir::Program core;

private:
    static bool squeezes(const Pipeline& pipeline);
    // Whether they do not fit, or leave hardly any memory to the first-level cache.
    bool are_rings_large(const std::variant<TemporalShape, std::string>& shaped) const;

    const Target& target_;
    const Extent& extent_;
    const TemporalPins& pins_;
    std::vector<std::string> reductions_;
    std::string refused_, unwatched_;
    std::optional<Iterations> iterations_;
};

// Whether so many steps may be chosen. Where they are iterations, few are left to be done one by one.
bool may_be(int steps, const TemporalPins& pins, const StepCounts& counts,
            const std::optional<Iterations>& iterations);

}  // namespace halo::schedule
