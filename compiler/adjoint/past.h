// States of an adjoint that say again what another one was a step before.
#pragma once

#include <set>

#include "compiler/adjoint/algebra.h"

namespace halo::adjoint {

// Whether a value at a cell follows from what the field holds there, and from what is the same in all steps:
// the fields of `unchanging`, params and the cell's place.
bool follows_from(const ir::Program& program, ir::ExprId value, ir::FieldId field,
                  const std::set<ir::FieldId>& unchanging);

// The same value, of the level that the field had a step before.
ir::ExprId a_step_before(Algebra& algebra, ir::ExprId value, ir::FieldId field);

}  // namespace halo::adjoint
