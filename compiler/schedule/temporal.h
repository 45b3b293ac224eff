// TemporalSchedule: how several time steps run as one kernel (pipeline.h), besides the schedules of the
// stages, which do the steps that are left over.
#pragma once

#include <array>
#include <cstdint>
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
    int ahead = 4;                   // planes on their way from memory
    int unroll = 1;                  // turns of the walk at a time
    int min_blocks = 1;              // blocks an SM that registers are limited for
    int blocks = 132;                // that share the grid
    bool of_pieces = false;          // of a grid, cut along the last axis: as rt::TimeBlock has it
    int walks = 0;                   // of pieces: as rt::TimeBlock has it
    bool gives_ghosts = false;       // of pieces: stores what neighbours have as ghosts there, too
    // Found at every step, for who looks at them; others are those of the last step.
    std::vector<std::string> reductions{};
    friend bool operator==(const TemporalSchedule&, const TemporalSchedule&) = default;
};

// What a pipeline and a schedule come to. In two dimensions a warp has a tile, in three a block.
struct TemporalShape {
    std::array<int, 2> tile{32, 1};     // cells computed in a plane
    std::array<int, 2> out{32, 1};      // of these come out right after all steps
    std::array<int, 2> halo_low{0, 0};  // cells before those
    std::array<bool, 3> periodic{};
    // At a face nothing has to be around a tile: so many more cells come out of the first one, and these of
    // one that is at both faces.
    std::array<int, 2> first_more{0, 0};
    std::array<int, 2> out_alone{32, 1};
    int rows = 1;   // of a block in the ring
    int line = 32;  // elements of 128 bytes of memory
    // A row in the ring lies as far into its line as in memory: only so are whole lines copied at once.
    int ring_row() const { return tile[0] + line; }
    int first_plane = 0;  // in the ring, from the turn's own
    int ring_planes = 1;
    std::int64_t shared_bytes = 0;
    int registers = 0;                           // of a thread: an estimate
    std::array<std::int64_t, 3> least_extent{};  // of a grid
    // Cells computed for each that comes out, on a large grid; without the walk's start.
    double redundancy() const;
};
// core: of temporal_core(). The text says what is in the way, in the user's words.
std::variant<TemporalShape, std::string> temporal_shape(const ir::Program& core, const Pipeline& pipeline,
                                                        const TemporalSchedule& schedule,
                                                        const Target& target);

// Registers that a thread has for the value of a reduction, at each step: the least and the largest of f32
// are exact in f32.
int words_of_reduction(const ir::Program& core, const ir::Reduce& reduce);

// Instructions that a warp issues in a turn of the walk: an estimate.
double instructions_of_turn(const ir::Program& core, const Pipeline& pipeline,
                            const TemporalSchedule& schedule);
// In two dimensions warps may be left without a part of a tile: fewer than so many blocks have.
constexpr int kBlocksOfRest = 2;
// Into how many equal parts each tile is cut, one for a worker, which are walked side by side; 0: workers are
// too few, or they have equal shares of all tiles.
std::int64_t parts_of_tile(const Pipeline& pipeline, const TemporalSchedule& schedule, std::int64_t tiles);
// rt::TimeBlock::OfPieces::walks of a schedule that can be built.
int walks_of_column(const ir::Program& program, const TemporalSchedule& schedule, const Target& target,
                    const Extent& extent);
std::int64_t tiles_of(const Pipeline& pipeline, const TemporalShape& shape, const Extent& extent);

// Seconds for a cell and step, by a plain model: memory against instructions.
double temporal_seconds(const ir::Program& core, const Pipeline& pipeline, const TemporalShape& shape,
                        const TemporalSchedule& schedule, const Target& target, const Extent& extent);

// What the user pins of it: `temporal steps=4 warps=8 cells=4x4 ahead=4 unroll=2 min_blocks=1 blocks=132`.
struct TemporalPins {
    std::optional<int> steps, warps, ahead, unroll, min_blocks, blocks;
    std::optional<std::array<int, 2>> cells;
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
};
// The fastest schedule for a program and grid, by the model, around what is pinned. watched: reductions that
// the run looks at after every step. Where one of them cannot be found at each, there is no schedule but what
// is pinned.
TemporalChoice choose_temporal(const ir::Program& program, const Target& target, const Extent& extent,
                               const std::optional<TemporalPins>& pins = std::nullopt,
                               const std::vector<std::string>& watched = {});

}  // namespace halo::schedule
