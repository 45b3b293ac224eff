// Whole numbers, exactly.
#pragma once

#include <optional>

#include "compiler/ir/program.h"
#include "compiler/support/rational.h"

namespace halo::sema {

// The largest whole number that is not above; nullopt where it is too large to be found (2^52 and more).
std::optional<Rational> floor_of(const Rational& number);

// Whether its values are whole numbers, whatever its argument is.
bool gives_whole(ir::Function function);

}  // namespace halo::sema
