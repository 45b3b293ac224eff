// A program as text of the language, with as few words as keep its meaning: what it says is read back as the
// same program, but for where numbers are rounded.
#pragma once

#include <string>

#include "compiler/ir/program.h"

namespace halo::adjoint {

// `comment`: lines above the stencil. Of programs without groups, tables, noise and sweeps. Throws
// RefusedError for a boundary that has no words.
std::string spec_text(const ir::Program& program, const std::string& comment);

}  // namespace halo::adjoint
