// Results that nobody measured, to write pages and pictures of.
#pragma once

#include "compiler/bench/results.h"

namespace halo::test {

bench::Results gpu_results();  // round numbers; one of them wrong
bench::Results cpu_results();

}  // namespace halo::test
