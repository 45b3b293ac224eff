// A gradient: a program's steps forward, and its adjoint's steps back through them. Few states of the way are
// kept (adjoint/snapshots.h); the steps between them are done again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/adjoint/adjoint.h"
#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/point_data.h"
#include "compiler/ir/program.h"

namespace halo::driver {

struct GradientPlan {
    const ir::Program& program;
    const adjoint::Adjoint& adjoint;
    std::string objective;        // a reduction of the program, or a trace that it samples
    bool every_step = false;      // of a reduction: its sum over all steps; else what the last one gives
    std::vector<double> weights;  // of a trace: its rows are multiplied with these, and added
    std::vector<PointData> points;
    std::int64_t steps = 0;
    int snapshots = 1;  // states that are kept at a time
};

struct GradientResult {
    double objective = 0;
    std::vector<std::pair<std::string, double>> numbers;  // the derivatives with respect to params
    // Of traces that are injected: a row of points for each step.
    std::vector<std::pair<std::string, std::vector<double>>> traces;
    std::int64_t steps_forward = 0;  // those that were done again, too
    double seconds = 0;
};

// Bytes of the states that make one snapshot.
std::int64_t snapshot_bytes(Engine& engine, const ir::Program& program);

// Both engines have their params; `forward` has its fields, too. Afterwards `backward` has the gradients of
// fields. undone: called with the number of steps that are left.
GradientResult run_gradient(Engine& forward, Engine& backward, const GradientPlan& plan,
                            const std::function<void(std::int64_t)>& undone);

}  // namespace halo::driver
