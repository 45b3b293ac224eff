// Computes what is known and drops what does nothing.
#pragma once

#include "compiler/ir/program.h"

namespace halo::passes {

struct FoldConstants {
    // x + 0 and 0 - x are x and -x only where the sign of a zero does not matter: without this they stay.
    bool ignore_zero_signs = false;
    // 0 * x is 0 only where x is finite: without this it stays. Of integers it always is.
    bool ignore_zero_factors = false;
};

// Arithmetic on constants, exactly (compiler/ir/constants.h); conversions of constants; x*1, x/1, x*-1, x-0,
// x+0, x*0, x^0;
// -(-x), a+(-b), a-(-b), (-a)+b, (-a)*(-b); division by a power of two becomes a multiplication; logic and
// conditions on constants; conditions with equal branches; f32(f64(x)) of an f32 x. Dead expressions are
// dropped. Keeps every value bit for bit, but for what `config` ignores; f64 arithmetic may
// differ by the rounding of constants.
void fold_constants(ir::Program& program, FoldConstants config = {});

}  // namespace halo::passes
