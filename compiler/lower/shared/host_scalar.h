// Lowers uniform expressions to host arithmetic.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/program.h"
#include "runtime/core/launch_plan.h"

namespace halo::lower {

// `expr` must be uniform (ir/program.h). Evaluated in double; a convert to f32 rounds.
rt::HostScalar host_scalar(const ir::Program& program, ir::ExprId expr);

// What the formula of a stretched axis gives (ir/stretched_axis.h), in the params of the whole program: its
// step is the index of a cell. Without a step where it reads weights, which a scalar cannot.
rt::HostScalar distance_scalar(const ir::Program& formula, const std::vector<ir::Param>& params);

// The same so many steps later.
rt::HostScalar in_later_step(const rt::HostScalar& scalar, int steps);

// A short name for it, made of the params' names: lambda_dt, inv_dx; "scale" where that would be too long.
std::string host_scalar_name(const ir::Program& program, ir::ExprId expr);

}  // namespace halo::lower
