// TemporalSchedule: how one kernel does several time steps (pipeline.h). Steps that are left over are done by
// the stages' own schedules.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/schedule/legality.h"
#include "compiler/schedule/parse.h"
#include "compiler/schedule/pipeline.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/temporal_core.h"

namespace halo::schedule {

struct TemporalSchedule {
    int steps = 4;                   // in one pass over memory
    int warps = 4;                   // of a block
    std::array<int, 2> cells{4, 1};  // of a thread: a vector along the first axis, and rows of a plane
    int ahead = 4;                   // planes in flight from memory
    int unroll = 1;                  // iterations of the traversal
    int min_blocks = 1;              // blocks an SM that registers are limited for
    int blocks = 132;                // that share the grid
    bool of_pieces = false;          // the grid is a piece of one that is cut along the last axis
    int traversals = 0;              // of each column, of pieces: rt::TimeBlock::OfPieces::traversals
    bool gives_ghosts = false;       // of pieces: stores cells to the neighbours' ghosts, too
    int passes = 1;                  // over memory, of a single step (temporal_passes.h)
    // Computed at every step, as the run watches them; the others are computed at the last step alone.
    std::vector<std::string> reductions{};
    friend bool operator==(const TemporalSchedule&, const TemporalSchedule&) = default;
};

// The most tiles along x of which one is saved by TemporalShape::shift.
inline constexpr int kMostShiftedTiles = 10;

// What follows from a pipeline and a schedule. In two dimensions a warp has a tile, in three a block.
struct TemporalShape {
    std::array<int, 2> tile{32, 1};     // cells computed in a plane
    std::array<int, 2> out{32, 1};      // of these, the output: they are right after all steps
    std::array<int, 2> halo_low{0, 0};  // computed redundantly before the output
    std::array<bool, 3> periodic{};
    // A tile computes nothing past a face of the grid, so its output is larger there: that of the first tile
    // by `first_extra` cells; and a single tile, which is at both faces, outputs `out_single`.
    std::array<int, 2> first_extra{0, 0};
    std::array<int, 2> out_single{32, 1};
    // Along x, so many cells more where that saves a tenth of the tiles: their outputs then begin in the
    // middle of a sector, which costs 10 % of the speed of memory.
    int shift = 0;
    std::int64_t tiles_along(int axis, std::int64_t extent) const;
    int rows = 1;          // of a block in a ring
    int line = 32;         // elements of 128 bytes of memory
    int ring_row = 64;     // elements from one row of a ring to the next
    int ring_padding = 0;  // elements after its last row
    // Planes in shared memory, one after the other around a ring: of each queue that planes arrive for.
    struct Ring {
        int first = 0;  // from the plane that arrives in the iteration
        int planes = 1;
        friend bool operator==(const Ring&, const Ring&) = default;
    };
    std::map<ir::FieldId, Ring> rings{};
    int elements_of(const Ring& ring) const { return ring.planes * rows * ring_row + ring_padding; }
    int most_ring_planes() const;
    std::int64_t shared_bytes = 0;
    int registers = 0;              // of a thread: an estimate
    std::optional<int> squeezed{};  // where it is limited to so many or more, it gets by with them
    rt::Extent least_extent{};      // of a grid
    // Cells computed for each cell of the output on a large grid, without the prologue of a traversal.
    double redundancy() const;
};
// core: of temporal_core(). The text says why there is none, in the user's words.
std::variant<TemporalShape, std::string> temporal_shape(const ir::Program& core, const Pipeline& pipeline,
                                                        const TemporalSchedule& schedule,
                                                        const Target& target);

// Registers of a thread for the partial result of a reduction at one step. The minimum and the maximum of f32
// are exact in f32; all else is of f64.
int words_of_reduction(const ir::Program& core, const ir::Reduce& reduce);
int count_lets(const Pipeline& pipeline);

// An estimate of the instructions that a warp issues in one iteration of the traversal.
double instructions_per_iteration(const ir::Program& core, const Pipeline& pipeline,
                                  const TemporalSchedule& schedule);
// In two dimensions fewer warps than so many blocks have may stay idle, without a part of a tile.
constexpr int kMostIdleBlocks = 2;
// Into how many equal parts each tile is cut, of which each worker traverses one. 0: workers are too few for
// that, and have equal shares of all tiles, one after the other.
std::int64_t parts_of_tile(const Pipeline& pipeline, const TemporalSchedule& schedule, std::int64_t tiles);
// rt::TimeBlock::OfPieces::traversals of a schedule that can be built.
int traversals_of_column(const ir::Program& program, const TemporalSchedule& schedule, const Target& target,
                         const Extent& extent);
std::int64_t tiles_of(const Pipeline& pipeline, const TemporalShape& shape, const Extent& extent);

// Seconds for a cell and step, by a plain model of memory traffic and issued instructions.
double temporal_seconds(const ir::Program& core, const Pipeline& pipeline, const TemporalShape& shape,
                        const TemporalSchedule& schedule, const Target& target, const Extent& extent);

// What the user pins of it: `temporal steps=4 warps=8 cells=4x4 ahead=4 unroll=2 min_blocks=1 blocks=132`.
struct TemporalPins {
    std::optional<int> steps, warps, ahead, unroll, min_blocks, blocks, passes;
    std::optional<std::array<int, 2>> cells;
    friend bool operator==(const TemporalPins&, const TemporalPins&) = default;
};
struct ParsedTemporal {
    TemporalPins pins;
    std::vector<Mistake> mistakes;
};
ParsedTemporal parse_temporal(std::string_view text, int rank);
std::string print(const TemporalSchedule& schedule, int rank);

struct TemporalChoice {
    std::optional<TemporalSchedule> schedule;  // none: the program cannot run so on the grid
    std::string reason;                        // a sentence
    double seconds_per_cell = 0;               // and step, without launches
    // Of a program that repeats statements within a step: what is said of steps is of iterations of this one.
    std::optional<Iterations> iterations{};
};
// The fastest schedule for a program and grid, by the model; pinned settings stay as they are. watched:
// reductions that the run reads after every step. Where one of them cannot be computed at each step, only a
// pinned schedule is chosen. counts: the numbers of steps that may be chosen; empty: all.
using StepCounts = std::function<bool(int steps)>;
TemporalChoice choose_temporal(const ir::Program& program, const Target& target, const Extent& extent,
                               const std::optional<TemporalPins>& pins = std::nullopt,
                               const std::vector<std::string>& watched = {}, const StepCounts& counts = {});

}  // namespace halo::schedule
