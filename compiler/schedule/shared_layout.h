// The layout of a block's cells and their halo in shared memory, the cost of a warp's accesses to them, and
// the padding that minimizes it.
//
// A staged level is an array [planes][rows][pitch]. A row is
//
//   [ halo, rounded up to the vector | the tile's cells | halo, rounded up to the vector | padding ]
//
// so that cells and copies of whole vectors stay aligned. `tile` holds the whole tile with its halo. `stream`
// holds a ring of planes (of two axes: of rows, as planes of one row each) across the streaming axis: those
// that an iteration loads from, and those in flight (stream_plan.h). Each row of its tile has the alignment
// to a line of 128 bytes that it has in memory, as asynchronous copies are only then coalesced into whole
// lines; otherwise each vector of 16 bytes would be fetched by itself. The left halo of a row then occupies
// the end of the row before.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/schedule/footprint.h"
#include "compiler/schedule/schedule.h"

namespace halo::schedule {

struct StagedLevel {
    ir::FieldId field;
    int time = 0;
    ir::Scalar type = ir::Scalar::f32;
    rt::Lengths tile{};  // cells of the block along each axis; 1 along the streaming axis
    std::array<int, rt::kMaxRank> low{}, high{};  // cells kept before and after; of axis 0 rounded up to
                                                  // `vector`; 0 along the streaming axis
    int vector = 1;                               // widest aligned copy of a row, in elements: 1, 2 or 4
    int padding = 0;                              // elements
    int pitch = 1;                                // elements from row to row
    int rows = 1;                                 // of a plane
    int planes = 1;                               // or slots of the ring
    int origin = 0;           // element of a plane where the tile's columns begin, in the first row
    int plane_elements = 0;   // from plane to plane
    std::int64_t offset = 0;  // byte of the block's shared memory where it starts; a multiple of 16

    std::int64_t elements() const { return std::int64_t{planes} * plane_elements; }
    std::int64_t bytes() const { return elements() * size_of(type); }
};

struct SharedLayout {
    std::vector<StagedLevel> levels;
    std::int64_t bytes = 0;  // of a block
};

// What a thread loads of a level for its first row of cells; the other rows cost the same.
struct SharedLoad {
    ir::Offset offset{};  // from the thread's first cell to the first element
    int width = 1;        // elements
};

// The levels that the schedule's strategy stages, if any. Throws nothing; threads and cells must be positive.
SharedLayout make_shared_layout(const Footprint& footprint, const Schedule& schedule);

// Bytes of a plane of all levels.
double ring_plane_bytes(const SharedLayout& layout);

// One load that all threads of a block make.
struct SharedAccess {
    int level = 0;        // index into SharedLayout::levels
    ir::Offset offset{};  // as SharedLoad has them
    int width = 1;
    int passes = 1;  // of the worst warp through the 32 banks
    int least = 1;   // passes that as many bytes need at best
    int conflicts() const { return passes - least; }
};
std::vector<SharedAccess> shared_accesses(const Footprint& footprint, const Schedule& schedule,
                                          const SharedLayout& layout);

struct Padding {
    int elements = 0;
    std::string reason;  // a sentence for `haloc explain`
};
// The padding, of at most 32 elements, with the fewest passes; the smallest of these.
Padding choose_padding(const Footprint& footprint, Schedule schedule);

// A picture of one level's plane for people: rows down, columns across, long stretches left out.
//   h halo   # cell   . padding
std::string draw(const ir::Program& program, const StagedLevel& level);

}  // namespace halo::schedule
