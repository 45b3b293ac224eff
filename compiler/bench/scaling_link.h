// How devices reach each other, measured with the calls that pieces exchange by (runtime/core/device.h).
#pragma once

#include "compiler/bench/scaling_lab.h"
#include "compiler/bench/scaling_results.h"

namespace halo::bench {

// Copies of 4 KiB to 256 MiB between each two devices, and exchanges of the least copies.
LinkFigures measure_link(ScalingLab& lab);

}  // namespace halo::bench
