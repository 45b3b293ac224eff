// Kernels with their arguments, made ready to launch. Not for other rooms.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/core/session/arrays.h"
#include "runtime/core/session/inputs.h"
#include "runtime/core/session/iterations.h"
#include "runtime/core/session/kernels.h"
#include "runtime/core/session/parts.h"
#include "runtime/core/session/point_sets.h"
#include "runtime/core/session/reductions.h"

namespace halo::rt::session {

// A kernel with its arguments in one phase. `pointers` point into `values`: move it, do not copy.
struct PreparedLaunch {
    union Value {
        void* address;
        double f64;
        float f32;
        std::int32_t i32;
        std::int64_t i64;
    };
    PreparedLaunch() = default;
    PreparedLaunch(PreparedLaunch&&) = default;
    PreparedLaunch& operator=(PreparedLaunch&&) = default;
    PreparedLaunch(const PreparedLaunch&) = delete;
    PreparedLaunch& operator=(const PreparedLaunch&) = delete;

    std::vector<Value> values;
    std::vector<void*> pointers;
    std::vector<int> changing;  // those of `values` that are computed anew for each step
    struct Refresh {
        int field = 0;
        void* array = nullptr;
    };
    std::vector<Refresh> refresh;
};

class Launches {
public:
    // What arguments are taken from.
    struct Sources {
        const Setup& setup;
        const Clock& clock;
        const Kernels& kernels;
        Arrays& arrays;
        const Coefs& coefs;
        const Tables& tables;
        PointSets& points;
        Reductions& reductions;
        const Iterations& iterations;
    };
    explicit Launches(const Sources& sources);

    // Whether some argument is another one in each step; and of the next step a scalar, so that no launch can
    // be replayed.
    bool change_with_step() const { return changing_; }
    bool have_changing_scalars() const;
    // The same of a step without results.
    bool have_changing_scalars_unread() const;
    // Whether a kernel of the repeat has one.
    bool change_with_step(const RepeatPlan& repeat) const;
    void prepare(const std::vector<double>& params);  // all; those of a phase when it is first asked for
    // Of a kernel that is not among the plan's, or by itself. Arguments that a stepper gives at each launch
    // stay zero (Argument::Kind of time blocks).
    PreparedLaunch prepare(const KernelPlan& kernel, std::int64_t phase, const std::vector<double>& params,
                           const RepeatPlan* exchanged = nullptr);
    // exchanged: in a repeat, with the arrays that its iterations exchange.
    PreparedLaunch& at(int kernel, std::int64_t phase, bool exchanged = false);
    // Launches copy their arguments, so values may change while earlier launches are still queued.
    void update(PreparedLaunch& launch, const KernelPlan& kernel, std::int64_t step,
                const std::vector<double>& params);
    // The same of a step of a recording, which counts from its start.
    void update_recorded(PreparedLaunch& launch, const KernelPlan& kernel, std::int64_t step);

    // The array of a level within a step, as at() has it.
    Level& level_in_step(const KernelPlan::Written& level, std::int64_t phase, const RepeatPlan* exchanged);
    // Fills the halos of all components in that array again, in the step of that number.
    void fill_halos_in_step(const KernelPlan::Written& level, std::int64_t phase, std::int64_t step,
                            const RepeatPlan* exchanged);
    // Halos that kernels fill, outside of steps: of the levels at `time` whose images are due.
    void fill_halo(int field, int time, const std::vector<double>& params);
    void mark_formulas_due();  // of the levels that steps read: a param in their formulas changed
    void compute_columns();    // runs the kernels over rows of tables

private:
    PreparedLaunch::Value value_of(const Argument& argument, std::int64_t phase,
                                   const std::vector<double>& params, const RepeatPlan* exchanged);
    bool changes(const Argument& argument) const;
    // By the field's halo kernels: of a level that is one of step `step`.
    void launch_fillers(int field, const Level& filled, std::int64_t phase, std::int64_t step,
                        const std::vector<double>& params);
    void prepare_phase(std::size_t phase);

    Sources from_;
    bool changing_ = false;
    std::vector<bool> changing_scalars_;  // by kernel
    std::vector<double> params_;
    std::vector<std::vector<PreparedLaunch>> launches_;     // [phase][kernel]; empty until asked for
    std::vector<std::map<int, PreparedLaunch>> exchanged_;  // [phase], by kernel
};

}  // namespace halo::rt::session
