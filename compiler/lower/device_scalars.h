// Scalars that follow from reductions, such as a time step from the fastest wave: found on the device, so
// that no step waits for the host and many can be recorded together.
#pragma once

#include "compiler/lower/lower.h"

namespace halo::lower {

// Where each scalar of the plan that changes with the step is made of reductions by operations whose results
// are the same bits on the device and the host, kernels take them from memory, and kernels of one block that
// compute them are added to the step. Anything else leaves `lowered`, which is lower_cuda()'s, as it is: the
// host computes the scalars, as it does for the parts of a grid on several devices.
void compute_scalars_on_device(Lowered& lowered);

}  // namespace halo::lower
