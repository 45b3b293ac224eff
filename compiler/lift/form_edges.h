// Reads that are others at an edge of the grid, or are done in some cells alone; for form.cpp alone.
#pragma once

#include <optional>

#include "compiler/lift/form.h"
#include "compiler/lift/form_axes.h"

namespace halo::lift {

// The one cell along an axis in which something is read, where the conditions around it leave one.
std::optional<Polynomial> only_cell(const Read& read, const AxisIndex& to);

bool is_empty(const Range& cells);
// Whether conditions leave it no cell, once it is known what it touches.
bool is_never_done(const ResolvedRead& read);

// Finds ResolvedRead::touched and edges, once regions and offsets are known. Throws Refusal.
void find_touched(const Model& model, const AxisFinder& axes, Form& form);

// Finds Field::past, once the grid is known: which boundary of a spec each edge is. Throws Refusal.
void find_boundaries(const Model& model, Form& form);

}  // namespace halo::lift
