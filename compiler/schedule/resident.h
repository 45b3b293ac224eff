// ResidentSchedule: how one launch does all steps of a run, with the whole grid on the chip.
//
// Each block owns a box of the grid and keeps its cells of all levels on the chip, with the ghosts that they
// need. After each stage a block sends its outer cells to the blocks that have them as ghosts, and polls for
// its own ghosts. Where not all blocks can be on the device at once, the stages' own schedules do the steps.
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

// Where the states' cells are from step to step.
enum class Keep {
    registers,  // a thread's own; shared memory has those that others read, a slot for each level
    in_place,   // the same, but the next level takes the slot of the oldest, after one more barrier
    shared      // shared memory alone, where each plane is overwritten after a barrier
};

std::string_view keep_word(Keep keep);

struct ResidentSchedule {
    rt::Lengths threads{32, 4, 1};  // of a block
    rt::Lengths cells{};            // of a thread: neighbours, in one box
    Keep keep = Keep::registers;
    // The grids that the schedule is for: along which axes they are whole boxes, along which a single box
    // spans them, and how many cells the last thread of a row has where it has fewer than the others, else 0.
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

// What a block keeps of one field. A thread has its own cells of states and lets in registers, or those of
// the states' present levels in shared memory. That has those that other threads read, inputs, and ghosts.
struct ResidentBox {
    ir::FieldId field;
    ir::Role role = ir::Role::state;
    int slots = 1;                          // levels in shared memory; 0: none are
    Keep keep = Keep::registers;            // the schedule's, where the program lets it
    int back = 0;                           // steps from the present to the oldest of them
    std::array<int, rt::kMaxRank> reach{};  // width of the ghost zone, on both sides of each axis
    bool has_corners = false;               // the ghost zone includes edges and corners of the box
    // Blocks exchange the field's outer cells whenever it is written: at the faces of which axes, and of any.
    std::array<bool, 3> exchanged_along{};
    bool is_exchanged = false;
    rt::Lengths padded{};                         // cells of a slot along each axis, with the ghost zone
    std::int64_t cells = 0;                       // of a slot
    std::int64_t offset = 0;                      // bytes, in the block's shared memory
    std::int64_t around() const;                  // cells of the ghost zone
    std::int64_t exchanged_past(int axis) const;  // past both faces of an axis, but for corners
    std::int64_t exchanged() const;               // of those, at most so many come from other blocks
    rt::Lengths own{};
    int left = 0;  // cells before a row's first own one, rounded up to whole vectors
    bool is_read_around() const { return reach != decltype(reach){}; }
};

// Cells of a message, of so many that a thread has side by side.
int message_cells(int of_thread);

struct ResidentShape {
    std::vector<ResidentBox> boxes;
    std::int64_t shared_bytes = 0;
    rt::Extent least_extent{};  // of a grid
    const ResidentBox& box(ir::FieldId field) const;
};

// Why a program cannot stay on the chip, whatever the grid and the schedule; empty where it can.
// core: the statements that states depend on; pipeline: of one step.
std::string resident_refusal(const ir::Program& core, const Pipeline& pipeline);
// Of a program that can. The text says why there is none.
std::variant<ResidentShape, std::string> resident_shape(const ir::Program& core, const Pipeline& pipeline,
                                                        const ResidentSchedule& schedule,
                                                        const Target& target);

// An estimate of a thread's registers.
int resident_registers(const ir::Program& core, const ResidentShape& shape, const ResidentSchedule& schedule);

// By how many these exceed what a thread can have: each of an SM's schedulers has a fixed part of all
// registers.
int spilled_registers(int registers, const ResidentSchedule& schedule, const Target& target);
double spill_seconds(int spilled, const ResidentSchedule& schedule);  // of a step

// The arithmetic of a cell in one stage.
struct ResidentStage {
    double arithmetic = 0;  // issue slots
    bool is_wide = false;   // in f64
};
std::vector<ResidentStage> resident_stages(const ir::Program& core, const Pipeline& pipeline);

// Seconds of a step, by a plain model of the instructions of one block and of the exchange.
double resident_seconds(const ir::Program& core, const std::vector<ResidentStage>& stages,
                        const ResidentShape& shape, const ResidentSchedule& schedule);

// What the user pins of it: `resident threads=128x4x2 cells=1x4x4 keep=in_place`.
struct ResidentPins {
    std::optional<rt::Lengths> threads, cells;
    std::optional<Keep> keep;
};
struct ParsedResident {
    ResidentPins pins;
    std::vector<Mistake> mistakes;
};
// Candidates for a grid, with what is pinned of their shapes: those of powers of two, and those whose boxes
// divide the grid among nearly all SMs. All keep cells in registers.
std::vector<ResidentSchedule> resident_schedules(int rank, const Extent& extent, const Target& target,
                                                 const ResidentPins& pins);
ParsedResident parse_resident(std::string_view text, int rank);
std::string print(const ResidentSchedule& schedule, int rank);

// The same schedule for grids whose remainders are those of this one.
ResidentSchedule fitted(ResidentSchedule schedule, const Extent& extent);
double cells_of(const Extent& extent);
std::int64_t blocks_of(const ResidentSchedule& schedule, const Extent& extent);

struct ResidentChoice {
    std::optional<ResidentSchedule> schedule;  // none: the grid cannot stay on the chip
    std::string reason;                        // a sentence
    double seconds_per_step = 0;
};
// The fastest schedule for a program and grid, by the model; pinned settings stay as they are.
ResidentChoice choose_resident(const ir::Program& program, const Target& target, const Extent& extent,
                               const ResidentPins& pins);

}  // namespace halo::schedule
