// What a thread of a streaming block keeps of each level that it reads, and what it loads in each iteration.
//
// A block traverses the slowest axis, one plane an iteration. The planes of a level arrive, with their halo,
// in a ring in shared memory (shared_layout.h). In each iteration a thread loads from the ring what its cells
// need and it does not have yet. Cells that later planes need again stay in a queue in registers: always the
// thread's own; and neighbours within the plane, where cells of several planes read them and registers
// suffice (windows). Other neighbours are loaded for a single plane.
#pragma once

#include <array>
#include <vector>

#include "compiler/schedule/footprint.h"
#include "compiler/schedule/schedule.h"

namespace halo::schedule {

// Neighbouring cells of one row that a single load brings. Rows and columns count from the thread's first
// cell.
struct StreamPiece {
    int row = 0;
    int column = 0;  // a multiple of `width`
    int width = 1;   // 1, 2 or 4
    int plane = 0;   // at which it is loaded, relative to the one being computed
    int oldest = 0;  // at which it is last read: less than `plane` where it stays in the queue
    bool own = false;
};

struct StreamPlan {
    bool keeps_windows = false;
    // First and last plane of the queue, relative to the one being computed: <= 0 and >= 0.
    int low = 0, high = 0;
    // First and last plane that an iteration loads from the ring.
    int ring_low = 0, ring_high = 0;
    // Cells around the thread's own that pieces have in any plane: [axis][side].
    std::array<std::array<int, 2>, 2> around{};
    std::vector<int>
        gathered;  // planes whose neighbours are loaded for a single iteration; none with windows
    std::vector<StreamPiece> pieces;

    int planes() const { return high - low + 1; }
    int arriving() const {
        return ring_high - ring_low + 1;
    }  // planes of the ring that an iteration loads from
    bool is_kept(const StreamPiece& piece) const { return piece.own || keeps_windows; }
};

// A thread has several rows of cells in three dimensions alone.
StreamPlan plan_stream(const LevelRead& read, int rank, const Schedule& schedule);

// 32-bit words of the queue, and of what is loaded for a single iteration.
int queue_words(const StreamPlan& plan, ir::Scalar type);
int gathered_words(const StreamPlan& plan, ir::Scalar type);

// Planes in flight from memory while one is computed. Like the next function, only for Stream.
int planes_ahead(const Schedule& schedule);

// The unroll factor of the traversal. Where the schedule leaves it open: as many iterations as the longest
// queue has planes, so that it rotates through its registers without moves; or the greatest divisor of that
// whose loop fits the instruction cache.
int unroll_factor(const Footprint& footprint, const Schedule& schedule);

}  // namespace halo::schedule
