// Two adjoints that undo steps in turns, where the objective is what the last step alone gives: one undoes
// that step, the other all steps before it.
#pragma once

#include <optional>

#include "compiler/adjoint/adjoint.h"

namespace halo::adjoint {

// The second one goes on with the fields of the first, and has none of what only the objective needs: levels
// of states that nothing else reads, values that are computed again for it, and gradients that it alone adds
// to, which stay as the last step left them. nullopt: there is nothing to leave out, as each step adds to the
// objective, or the adjoint is given what the last step leaves; the first one undoes all steps.
struct Turns {
    Adjoint last;
    std::optional<Adjoint> earlier;
};
Turns make_turns(const ir::Program& program, const Request& request);

// Whether a field of the adjoint outlives a step: it is carried to the next one, or a result.
bool is_carried(const Adjoint& adjoint, const ir::Field& field);

// Fields that both have, by name, with the same in them after a step: those that are carried, and inputs that
// no step changes. Adjoint::pasts are not among them.
std::vector<std::string> common_fields(const Adjoint& one, const Adjoint& other);

}  // namespace halo::adjoint
