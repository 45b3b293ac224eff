// Registers that a thread needs, estimated before there is a kernel. NVRTC has the last word (`haloc
// explain`).
#pragma once

#include "compiler/schedule/footprint.h"
#include "compiler/schedule/schedule.h"

namespace halo::schedule {

// 32-bit registers. A thread's window is every value that its cells read.
struct RegisterEstimate {
    int held = 0;      // without which values would be loaded twice: those that several cells share, and what
                       // every kernel needs
    int expected = 0;  // with the other loads in flight, as the compiler schedules them
    int enough = 0;    // with fewer, values are spilled: as many as expected, or fewer where loads can wait
};
RegisterEstimate estimate_registers(const Footprint& footprint, const Schedule& schedule);

// Elements of one level that a thread's box of cells reads, and how many of these more than one of its cells
// reads.
struct Window {
    int elements = 0;
    int shared_by_cells = 0;
};
Window window(const LevelRead& read, const rt::Lengths& cells);

// The most registers of a thread where `min_blocks` blocks share an SM; where that is 0, of a single block.
int register_limit(const Schedule& schedule, const Target& target);

}  // namespace halo::schedule
