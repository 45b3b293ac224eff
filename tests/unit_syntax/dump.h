// Expressions of a tree as s-expressions, for tests.
#pragma once

#include <string>

#include "compiler/syntax/tree.h"

namespace halo::syntax {

std::string dump(const File& file, ExprId id);

}  // namespace halo::syntax
