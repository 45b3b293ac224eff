// Lowers uniform expressions to host arithmetic.
#pragma once

#include <string>

#include "compiler/ir/program.h"
#include "runtime/core/launch_plan.h"

namespace halo::lower {

// `expr` must be uniform (ir/program.h). Evaluated in double; a convert to f32 rounds.
rt::HostScalar host_scalar(const ir::Program& program, ir::ExprId expr);

// The same so many steps later.
rt::HostScalar in_later_step(const rt::HostScalar& scalar, int steps);

// A short name for it, made of the params' names: lambda_dt, inv_dx; "scale" where that would be too long.
std::string host_scalar_name(const ir::Program& program, ir::ExprId expr);

}  // namespace halo::lower
