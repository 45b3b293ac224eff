// Fields that a `solve` adds beside its unknown, and what lies past the unknown's faces as a sum of its own
// cells.
#pragma once

#include <string>
#include <vector>

#include "compiler/sema/evaluator.h"

namespace halo::sema {

// A field of the unknown's type and grid. Like the unknown past its faces where it is `with_boundary`; else
// it is read at the cell itself alone.
ir::FieldId add_field_like(Evaluator& evaluator, ir::FieldId unknown, const std::string& name, ir::Role role,
                           bool with_boundary);

// Past the faces only what the field's own cells give: a value of `fixed` is 0, and so is a slope.
void make_homogeneous(Evaluator& evaluator, ir::FieldId field);

// Whether something lies past the face that the field's own cells do not give.
bool has_given_value(Evaluator& evaluator, ir::FieldId field, int axis, int side);

// The value `distance` cells past a face that is not periodic, without what is given there: a sum of cells,
// counted from the edge cell inwards.
struct GhostTerm {
    int cell = 0;
    Value weight;  // with coordinates of the edge cell
};
std::vector<GhostTerm> ghost_terms(Evaluator& evaluator, ir::FieldId field, int axis, int side, int distance);

}  // namespace halo::sema
