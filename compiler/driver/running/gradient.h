// A gradient: a program's steps forward, and its adjoint's steps back through them. Few states of the way are
// kept (adjoint/snapshots.h); the steps between them are done again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/adjoint/adjoint.h"
#include "compiler/adjoint/turns.h"
#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/kept_states.h"
#include "compiler/driver/running/point_data.h"
#include "compiler/ir/program.h"

namespace halo::driver {

struct GradientPlan {
    const ir::Program& program;
    const adjoint::Adjoint& adjoint;
    // Of all steps but the last, where that leaves something out; null: `adjoint` undoes them all.
    const adjoint::Adjoint* earlier = nullptr;
    // A reduction of the program, or a trace that it samples. Empty: levels that the last step leaves, each
    // cell times what the adjoint was given for it; nothing adds them up.
    std::string objective;
    bool every_step = false;  // of a reduction: its sum over all steps; else what the last one gives
    // Of a trace, which is a row of points for each step: what its numbers are multiplied with before they
    // are added; or what was measured in their place, and the objective is half the sum of the squares of
    // what they differ by.
    std::vector<double> weights{}, measured{};
    std::vector<PointData> points{};
    std::int64_t steps = 0;
    rt::SnapshotPlaces snapshots{0, 1};  // where states are kept; where the adjoint reads none it can be none
    bool returns = false;                // to the state before the first step, at the end; needs a snapshot
};

// Whether a step back reads a state that the run has gone on from.
bool reads_states(const GradientPlan& plan);

bool is_sampled(const ir::Program& program, const std::string& trace);
std::vector<std::string> sampled_traces(const ir::Program& program);

struct GradientResult {
    double objective = 0;
    std::vector<double> rows;                             // of a trace: what was sampled
    std::vector<std::pair<std::string, double>> numbers;  // the derivatives with respect to params
    // Of traces that are injected: a row of points for each step.
    std::vector<std::pair<std::string, std::vector<double>>> traces;
    std::int64_t steps_forward = 0;  // those that were done again, too
    double seconds = 0;
};

struct GradientEngines {
    Engine& forward;
    Engine& backward;           // of GradientPlan::adjoint
    Engine* earlier = nullptr;  // of GradientPlan::earlier, where there is one
};

// Lets the arrays of the one lie like those of the other, where they can; what is in them is lost.
void let_lie_alike(Engine& engine, Engine& like);

// Lets the arrays of all lie alike, before anything is given to those that go back: they can read states
// where they are kept then. What the two of them carry from step to step is in the same arrays, where that
// can be.
void share_arrays(const GradientEngines& engines, const GradientPlan& plan);

// kept: states of `forward`, in the plan's places. All engines have their params; `forward` has its fields,
// too, and has done no step. Afterwards `backward` has all that was found, and `forward` is in some state on
// the way. undone: called with the number of steps that are left, which a GPU may have yet to do.
GradientResult run_gradient(const GradientEngines& engines, const GradientPlan& plan, KeptStates& kept,
                            const std::function<void(std::int64_t)>& undone);

}  // namespace halo::driver
