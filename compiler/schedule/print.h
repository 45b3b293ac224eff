// A schedule as text: in the syntax that parse.h reads, and in words.
#pragma once

#include <string>

#include "compiler/schedule/schedule.h"

namespace halo::schedule {

// "stream threads=32x4 cells=4x2 planes=32 min_blocks=2 padding=4". Axes: those of the program; for stream
// all but the streaming axis. Settings with their neutral value are left out. Reads back as the same
// schedule.
std::string print(const Schedule& schedule, int rank);

// "direct: 32x8x1 threads, 4x1x2 cells a thread"
std::string describe(const Schedule& schedule, int rank);

}  // namespace halo::schedule
