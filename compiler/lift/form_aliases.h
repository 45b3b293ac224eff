// Whether arrays may be the same memory; for form.cpp.
#pragma once

#include <vector>

#include "compiler/lift/model.h"

namespace halo::lift {

std::vector<int> reads_of(const Model& model, const Store& store);

// Throws Refusal where what one pointer writes another may read.
void exclude_aliases(const Model& model, bool no_alias);

}  // namespace halo::lift
