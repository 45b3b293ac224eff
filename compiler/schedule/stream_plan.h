// What a thread of a block that streams keeps of each level it reads, and what it loads at every turn.
//
// A block walks along the slowest axis, a plane a turn. All planes of a level, with the halo that is read in
// them, arrive in a ring in shared memory (shared_layout.h). From there a thread takes, at every turn, what
// its cells need and it does not have yet. Cells that planes to come need again wait in a queue in registers:
// always its own; the neighbours in the plane, too, where several planes' cells read them and there is room
// (windows). Other neighbours are loaded for the one plane that they are read in.
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
    int plane = 0;   // from the one being computed, as it is loaded
    int oldest = 0;  // the last plane that it is read as: smaller where it stays in the queue
    bool own = false;
};

struct StreamPlan {
    bool keeps_windows = false;
    // Planes of the queue: behind (<= 0) and ahead (>= 0) of the one being computed.
    int low = 0, high = 0;
    // Planes that are loaded from the ring: the first is as long in it as the last is ahead.
    int ring_low = 0, ring_high = 0;
    // Cells around the thread's own that any plane's pieces hold: [axis][side].
    std::array<std::array<int, 2>, 2> around{};
    std::vector<int> gathered;  // planes whose neighbours are loaded for them alone; none with windows
    std::vector<StreamPiece> pieces;

    int planes() const { return high - low + 1; }
    int arriving() const { return ring_high - ring_low + 1; }  // that the ring holds at a turn
    bool is_kept(const StreamPiece& piece) const { return piece.own || keeps_windows; }
};

// `cells`: of a thread, of which the rows count in three dimensions alone.
StreamPlan plan_stream(const LevelRead& read, int rank, const Schedule& schedule);

// 32-bit words of the queue, and of what is loaded for one plane alone.
int queue_words(const StreamPlan& plan, ir::Scalar type);
int gathered_words(const StreamPlan& plan, ir::Scalar type);

// Planes on their way from memory while one is computed. Like the next, of a schedule that is Stream.
int planes_ahead(const Schedule& schedule);

// Turns that the walk is unrolled by: where the schedule leaves it open, as many as the longest queue has
// planes, so that nothing moves in it, or the greatest divisor that keeps the loop short enough for the
// instruction cache.
int unrolled_turns(const Footprint& footprint, const Schedule& schedule);

}  // namespace halo::schedule
