// The closed list of what is not differentiated.
#pragma once

#include "compiler/adjoint/active.h"
#include "compiler/adjoint/request.h"
#include "compiler/ir/program.h"

namespace halo::adjoint {

// Throws RefusedError for statements and expressions of which no program has a derivative yet, whatever is
// asked for.
void refuse_unsupported(const ir::Program& program);

// What a request names.
struct Chosen {
    std::vector<ir::FieldId> fields;            // of `with`: inputs and states
    std::vector<ir::ParamId> params;            // of `with`
    std::vector<ir::FieldId> results;           // of `of`: states and outputs
    std::vector<PointNumber> numbers;           // of `with`: traces that are injected
    std::vector<const ir::Sample*> samples;     // of `of`: those that give the traces named
    std::vector<const ir::Reduce*> reductions;  // of `of`
};
// Throws RefusedError where a name is unknown or names what has no derivative.
Chosen choose(const ir::Program& program, const Request& request);

}  // namespace halo::adjoint
