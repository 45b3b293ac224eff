// How often a stage uses each of its values: one that is used more than once gets a name.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "compiler/ir/ids.h"

namespace halo::ir {

using Uses = std::map<std::uint32_t, int>;  // by expression
using UseOperand = std::function<void(ExprId)>;

// Of what is computed for the roots, which count as uses, too: `operands` calls `use` for each value that one
// is computed from.
Uses count_uses(const std::vector<ExprId>& roots,
                const std::function<void(ExprId, const UseOperand& use)>& operands);

}  // namespace halo::ir
