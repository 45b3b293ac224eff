// A kernel as one would write it by hand: what the pieces it is put together from leave behind is gone.
#pragma once

#include "compiler/kernel/program.h"

namespace halo::kernel {

// Loops of one turn are their body; braces that only hold what other braces hold already are left out;
// conditions that are asked twice in a row are asked once. Keeps what the function computes, and its order.
void tidy(KernelFunction& function);

}  // namespace halo::kernel
