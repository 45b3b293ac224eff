// ResidentSchedule: how all steps of a run are done in one launch, with the whole grid on the chip.
//
// Each block owns a box of the grid and keeps its cells of all levels in shared memory, with the cells around
// it that its own need. After each stage a block hands its outer cells to those that need them, and waits for
// theirs. The stages' own schedules do the steps where the blocks are not all on the device at once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/schedule/legality.h"
#include "compiler/schedule/parse.h"
#include "compiler/schedule/pipeline.h"
#include "compiler/schedule/schedule.h"

namespace halo::schedule {

struct ResidentSchedule {
    std::array<int, 3> threads{32, 4, 1};  // of a block
    std::array<int, 3> cells{1, 1, 1};     // of a thread: neighbours, in one box
    // Of the grids that it is for: along which axes they are whole boxes, along which one box has them all,
    // and how many cells the last thread of a row has where those are fewer than all others have, else 0.
    std::array<bool, 3> is_whole{}, is_alone{};
    int row_rest = 0;
    int tile(int axis) const {
        return threads[static_cast<std::size_t>(axis)] * cells[static_cast<std::size_t>(axis)];
    }
    int all_threads() const { return threads[0] * threads[1] * threads[2]; }
    int warps() const { return (all_threads() + 31) / 32; }
    int warps_of_scheduler() const { return (warps() + 3) / 4; }  // of the busiest of an SM's four
    friend bool operator==(const ResidentSchedule&, const ResidentSchedule&) = default;
};

// What a block keeps of one field. A thread has its own cells of states and lets in registers; in shared
// memory are those that others read, and inputs.
struct ResidentBox {
    ir::FieldId field;
    ir::Role role = ir::Role::state;
    int slots = 1;                      // levels in shared memory; 0: none are
    int back = 0;                       // steps that the oldest of them lies behind
    std::array<int, 3> reach{0, 0, 0};  // cells around the block's own, on both sides of each axis
    bool has_corners = false;           // also those past two faces at once
    // Its outer cells go to other blocks whenever it is written: those at the faces of which axes, and of
    // any.
    std::array<bool, 3> exchanged_along{};
    bool is_exchanged = false;
    std::array<int, 3> padded{1, 1, 1};
    std::int64_t cells = 0;          // of a slot
    std::int64_t offset = 0;         // bytes, in the block's shared memory
    std::int64_t around() const;     // cells around the block's own that are kept
    std::int64_t exchanged() const;  // of those, what comes from other blocks, at most
    std::array<int, 3> own{1, 1, 1};
    int left = 0;  // cells before a row's first own one: whole vectors
    bool is_read_around() const { return reach != std::array<int, 3>{0, 0, 0}; }
};

struct ResidentShape {
    std::vector<ResidentBox> boxes;
    std::int64_t shared_bytes = 0;
    std::array<std::int64_t, 3> least_extent{1, 1, 1};  // of a grid
    const ResidentBox& box(ir::FieldId field) const;
    std::int64_t blocks(const ResidentSchedule& schedule, const Extent& extent) const;
};

// core: the statements that states depend on; pipeline: of one step. The text says what is in the way.
std::variant<ResidentShape, std::string> resident_shape(const ir::Program& core, const Pipeline& pipeline,
                                                        const ResidentSchedule& schedule,
                                                        const Target& target);

// Of a thread: an estimate.
int resident_registers(const ir::Program& core, const ResidentShape& shape, const ResidentSchedule& schedule);

// How many of these are more than a thread has, each of the SM's schedulers having its part of them.
int spilled_registers(int registers, const ResidentSchedule& schedule, const Target& target);
double spill_seconds(int spilled, const ResidentSchedule& schedule);  // of a step

// What a cell takes, stage by stage.
struct ResidentStage {
    double arithmetic = 0;  // instructions
    bool is_wide = false;   // in f64
};
std::vector<ResidentStage> resident_stages(const ir::Program& core, const Pipeline& pipeline);

// Seconds of a step, by a plain model: shared memory and arithmetic of one block, and the exchange.
double resident_seconds(const ir::Program& core, const std::vector<ResidentStage>& stages,
                        const ResidentShape& shape, const ResidentSchedule& schedule);

// What the user pins of it: `resident threads=128x4x2 cells=1x4x4`.
struct ResidentPins {
    std::optional<std::array<int, 3>> threads, cells;
};
struct ParsedResident {
    ResidentPins pins;
    std::vector<Mistake> mistakes;
};
// Shapes worth a look for a grid, around what is pinned: of powers of two, and such that so many boxes as a
// device has SMs share the grid out.
std::vector<ResidentSchedule> resident_schedules(int rank, const Extent& extent, const Target& target,
                                                 const ResidentPins& pins);
ParsedResident parse_resident(std::string_view text, int rank);
std::string print(const ResidentSchedule& schedule, int rank);

// The same, for grids that end as this one does.
ResidentSchedule fitted(ResidentSchedule schedule, const Extent& extent);
double cells_of(const Extent& extent);

struct ResidentChoice {
    std::optional<ResidentSchedule> schedule;  // none: it cannot be
    std::string reason;                        // a sentence
    double seconds_per_step = 0;
};
// The fastest schedule for a program and grid, by the model, around what is pinned.
ResidentChoice choose_resident(const ir::Program& program, const Target& target, const Extent& extent,
                               const ResidentPins& pins);

}  // namespace halo::schedule
