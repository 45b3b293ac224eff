// What is done to a StencilProgram between sema and lowering, once for all engines.
#pragma once

#include "compiler/ir/program.h"

namespace halo::passes {

// What may happen to floating-point arithmetic (docs/floating-point.md). `--strict-fp` is strict().
struct FloatingPoint {
    bool reassociate = true;  // sums and products of uniform factors may be regrouped
    bool contract = true;     // a product that meets a sum may be rounded with it, once

    static constexpr FloatingPoint strict() { return {false, false}; }
};

// Strict: every value keeps its bits. Under HALO_VERIFY the program is verified before and after each pass; a
// broken promise is an InternalError that names the pass.
void optimize(ir::Program& program, FloatingPoint floating_point = {});

}  // namespace halo::passes
