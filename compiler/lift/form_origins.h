// Where arrays begin on the grid; for form.cpp alone.
#pragma once

#include <vector>

#include "compiler/lift/form.h"
#include "compiler/lift/form_extents.h"

namespace halo::lift {

// Finds Field::first, and moves the axes of statements and touches by it. An array is moved where it lies as
// many cells from the one that is written as a parameter says (a halo that is packed), or where loops begin
// before the cell that its pointer is at (from -h). Where the array then still lies elsewhere in another
// statement, its distance is no number there.
// touches: by statement.
void find_origins(const Model& model, const AxisFinder& axes, Form& form,
                  std::vector<std::vector<Touch>>& touches);

// Which element of the array the grid's first cell is.
Polynomial first_element(const Field& of);

}  // namespace halo::lift
