// The variables of the kernels that tests write down: an index, and what bounds it.
#pragma once

#include "compiler/kernel/build.h"

namespace halo::kernel::variables {

inline const Expr i = variable("i", Type::i32);
inline const Expr n = variable("n", Type::i32);

}  // namespace halo::kernel::variables
