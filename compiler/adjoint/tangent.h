// The tangent of a program: besides what it computes, how that changes with what is named, to first order.
#pragma once

#include "compiler/adjoint/request.h"
#include "compiler/ir/program.h"

namespace halo::adjoint {

// The program and, for each of its quantities q that changes, q_dot. What is differentiated is given a
// direction: fields `u_dot` as other fields are given values, params as the param `p_dot`, 0 by itself.
// Components `v.x` are fields `v_x`. Throws RefusedError.
ir::Program make_tangent(const ir::Program& program, const Request& request);

}  // namespace halo::adjoint
