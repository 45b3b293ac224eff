// Results that nobody measured, made of a few formulas, to write the page of scaling and its pictures of.
#pragma once

#include "compiler/bench/scaling_results.h"

namespace halo::test {

// Four GPUs, by all schemes of exchange or by the synchronous one alone.
bench::ScalingResults scaling_results(bool all_schemes);

}  // namespace halo::test
