// The adjoint of the steps before the last one, where the objective is what the last step alone gives.
#pragma once

#include <optional>

#include "compiler/adjoint/adjoint.h"

namespace halo::adjoint {

// Undoes all steps but the last, and goes on with the fields of `whole`, which undid that one. What only the
// objective needs is not there: levels of states that nothing else reads, values that are computed again for
// it, and gradients that it alone adds to, which stay as the last step left them. nullopt: nothing is to be
// left out, as each step adds to the objective, or the adjoint is given what the last step leaves.
std::optional<Adjoint> make_adjoint_of_earlier(const ir::Program& program, const Request& request,
                                               const Adjoint& whole);

// Whether a field of the adjoint outlives a step: it is carried to the next one, or a result.
bool is_carried(const Adjoint& adjoint, const ir::Field& field);

}  // namespace halo::adjoint
