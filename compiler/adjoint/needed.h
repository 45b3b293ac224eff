// The part of a program that what is asked for depends on.
#pragma once

#include "compiler/adjoint/request.h"
#include "compiler/ir/program.h"

namespace halo::adjoint {

// The program with those statements alone; its reductions and samples are those of the request. Throws
// RefusedError where a name of the request is unknown or names what has no derivative.
ir::Program needed_part(const ir::Program& program, const Request& request);

}  // namespace halo::adjoint
