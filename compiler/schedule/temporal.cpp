#include "compiler/schedule/temporal.h"

#include <algorithm>
#include <cmath>

#include "compiler/schedule/footprint.h"

namespace halo::schedule {

namespace {

constexpr int kLanes = 32;
constexpr int kSectorBytes = 32;
constexpr int kLineBytes = 128;
constexpr std::int64_t kReductionBytes = 3 * 256;  // of shared memory, where a block's warps combine theirs

// Blocks, in two dimensions their warps.
std::int64_t workers_of(const Pipeline& pipeline, const TemporalSchedule& schedule) {
    return std::int64_t{schedule.blocks} * (pipeline.rank == 2 ? schedule.warps : 1);
}

int round_up(int value, int step) {
    return (value + step - 1) / step * step;
}

int bytes_of(const ir::Program& core, ir::FieldId field) {
    return size_of(core[field].type);
}

bool is_periodic(const ir::Program& core, const Pipeline& pipeline, int axis) {
    return std::ranges::any_of(pipeline.queues, [&](const Pipeline::Queue& queue) {
        const ir::Field& field = core[queue.field];
        return field.image(axis, 0).wraps() && field.halo[axis][0] + field.halo[axis][1] > 0;
    });
}

// Neighbours come from the lane beside, or the warp beside: no further.
std::string refused_reach(const ir::Program& core, const Pipeline& pipeline,
                          const TemporalSchedule& schedule) {
    for (const Pipeline::Queue& queue : pipeline.queues) {
        const ir::Field& field = core[queue.field];
        for (int axis = 0; axis < pipeline.walked(); ++axis) {
            const int cells = schedule.cells[static_cast<std::size_t>(axis)];
            const std::string& name = core.axes[static_cast<std::size_t>(axis)].name;
            for (int side = 0; side < 2; ++side) {
                const int reach = queue.reach[axis][side];
                if (reach > cells)
                    return "`" + field.name + "` is read " + std::to_string(reach) + " cells away along " +
                           name + ", and a thread has " + std::to_string(cells);
                if (field.image(axis, side).reflects() && reach > 0 && reach >= cells)
                    return "the mirror of `" + field.name + "` along " + name + " shows cells " +
                           std::to_string(reach) + " away, and a thread has " + std::to_string(cells);
            }
        }
    }
    return "";
}

template <class Visit>
void for_each_reduction(const ir::Program& core, const Pipeline& pipeline, Visit&& visit) {
    for (const Pipeline::Stage& stage : pipeline.stages)
        for (const int index : stage.stage.statements)
            if (const auto* reduce =
                    std::get_if<ir::Reduce>(&core.statements[static_cast<std::size_t>(index)]))
                visit(*reduce);
}

// Of a cell and step.
int terms_of(const ir::Program& core, const Pipeline& pipeline) {
    Footprints footprints(core);
    int terms = 0;
    for (const Pipeline::Stage& stage : pipeline.stages) {
        const Operations operations = footprints.of(stage.stage).operations;
        terms += operations.adds + operations.multiplies + operations.fmas;
    }
    return terms;
}

// Fitted to what the kernels of dsl_examples/bench take.
int estimate_registers(const ir::Program& core, const Pipeline& pipeline, const TemporalSchedule& schedule) {
    constexpr int kPlaces = 26;        // addresses and counters
    constexpr int kPlacesOfField = 8;  // addresses of each field
    constexpr int kMostTerms = 24;     // of a box's sum that are on their way
    const bool has_rows = pipeline.rank == 3;
    const int cells = schedule.cells[0] * schedule.cells[1];
    int registers = kPlaces + (has_rows ? 12 : 0);
    int widest = 1;  // words of a value
    bool has_boxes = false, comes_round = true;
    int most_slots = 1;
    for (const Pipeline::Queue& queue : pipeline.queues) {
        const int words = bytes_of(core, queue.field) / 4;
        widest = std::max(widest, words);
        has_boxes = has_boxes || (queue.fold && queue.has_corners);
        const int levels = pipeline.levels(queue);
        const int columns = queue.reach[0][0] + queue.reach[0][1];
        const int all = (schedule.cells[0] + columns) * (schedule.cells[1] + queue.lines());
        const int cross = cells + columns * schedule.cells[1] + queue.lines() * schedule.cells[0];
        const int window = (queue.has_corners ? all : cross) * words;
        if (queue.keeps_windows()) {
            registers += pipeline.steps * (queue.windows - 1) * all * words;
            registers += levels * std::max(queue.slots - 2, 0) * cells * words;
        } else {
            registers += levels * (queue.slots - (pipeline.later_first ? 0 : 1)) * cells * words;
        }
        most_slots = std::max(most_slots, queue.slots);
        comes_round = comes_round && schedule.unroll % std::max(queue.slots, 1) == 0;
        if (queue.fold) registers += pipeline.steps * queue.fold->values() * cells * words;
        if (queue.fold && !has_rows && words == 1) registers += 3 * pipeline.steps - 4;
        // Of a wide window only a part is there at a time.
        const int at_once = std::min(window, (2 * cells + kPlaces) * words);
        registers += kPlacesOfField + (queue.has_window ? at_once : cells * words);
    }
    for_each_reduction(core, pipeline, [&](const ir::Reduce& reduce) {
        constexpr int kOfRow = 4;  // words on their way
        registers += (pipeline.steps + kOfRow) * words_of_reduction(core, reduce);
    });
    // Values on their way, which come in pairs of registers where they are wide.
    if (schedule.unroll > 1 && has_rows) registers += (comes_round ? 8 : 20) * widest;
    if (schedule.unroll > 1 && !has_rows && widest > 1) registers += std::max(0, 44 - 3 * most_slots);
    if (widest > 1) registers += 12;
    if (has_boxes && has_rows) registers += std::min(kMostTerms, terms_of(core, pipeline) / 2);
    return registers;
}

}  // namespace

int words_of_reduction(const ir::Program& core, const ir::Reduce& reduce) {
    return reduce.op != ir::ReduceOp::sum && core[reduce.value].type == ir::Scalar::f32 ? 1 : 2;
}

double TemporalShape::redundancy() const {
    return static_cast<double>(tile[0]) / out[0] * tile[1] / out[1];
}

std::variant<TemporalShape, std::string> temporal_shape(const ir::Program& core, const Pipeline& pipeline,
                                                        const TemporalSchedule& schedule,
                                                        const Target& target) {
    TemporalShape shape;
    const bool has_rows = pipeline.rank == 3;
    if (std::string why = refused_reach(core, pipeline, schedule); !why.empty()) return why;
    if (schedule.warps * kLanes > target.max_threads_per_block)
        return std::to_string(schedule.warps) + " warps are more than a block can have";
    for (int axis = 0; axis < pipeline.rank; ++axis)
        shape.periodic[axis] = is_periodic(core, pipeline, axis);
    int widest = 4, narrowest = 8;
    for (const Pipeline::Queue& queue : pipeline.queues) {
        widest = std::max(widest, bytes_of(core, queue.field));
        narrowest = std::min(narrowest, bytes_of(core, queue.field));
    }
    shape.line = kLineBytes / narrowest;
    shape.tile = {kLanes * schedule.cells[0], has_rows ? schedule.warps * schedule.cells[1] : 1};
    shape.rows = schedule.warps * (has_rows ? schedule.cells[1] : 1);
    // What comes out of a tile begins with a whole sector of memory.
    shape.halo_low[0] = round_up(pipeline.halo[0][0], schedule.cells[0]);
    const int around = shape.halo_low[0] + round_up(pipeline.halo[0][1], schedule.cells[0]);
    const int sector = std::max(schedule.cells[0], kSectorBytes / widest);
    shape.out[0] = (shape.tile[0] - around) / sector * sector;
    const std::string steps = std::to_string(pipeline.steps) + " steps";
    if (shape.out[0] <= 0)
        return "a warp's " + std::to_string(shape.tile[0]) + " cells are too few for the " +
               std::to_string(around) + " that " + steps + " need around them";
    if (has_rows) {
        shape.halo_low[1] = pipeline.halo[1][0];
        shape.out[1] = shape.tile[1] - pipeline.halo[1][0] - pipeline.halo[1][1];
        if (shape.out[1] <= 0)
            return "a block's " + std::to_string(shape.tile[1]) + " rows are too few for the " +
                   std::to_string(shape.tile[1] - shape.out[1]) + " that " + steps + " need around them";
    }
    for (int axis = 0; axis < pipeline.walked(); ++axis) {
        const auto at = static_cast<std::size_t>(axis);
        shape.out_alone[at] = shape.out[at];
        if (shape.periodic[at]) continue;
        // What the other tiles bring out begins with a whole sector, too.
        const int around_high =
            has_rows && axis == 1 ? pipeline.halo[1][1] : round_up(pipeline.halo[0][1], schedule.cells[0]);
        const int more = std::min(shape.tile[at] - around_high - shape.out[at], shape.halo_low[at]);
        shape.first_more[at] = axis == 0 ? more / sector * sector : more;
        shape.out_alone[at] = shape.first_more[at] + shape.tile[at] - shape.halo_low[at];
    }
    const std::array<int, 2> arrival = pipeline.arrival();
    shape.first_plane = arrival[0];
    shape.ring_planes = arrival[1] + schedule.ahead - arrival[0] + 1;
    for (const Pipeline::Queue& queue : pipeline.queues) {
        const std::int64_t bytes = bytes_of(core, queue.field);
        shape.shared_bytes += bytes * queue.arriving * shape.ring_planes * shape.rows * shape.ring_row();
        if (has_rows && queue.role != ir::Role::input)
            shape.shared_bytes += bytes * pipeline.steps * 2 * schedule.warps * queue.lines() * shape.tile[0];
    }
    std::int64_t static_bytes = 0;
    for_each_reduction(core, pipeline, [&](const ir::Reduce&) { static_bytes = kReductionBytes; });
    if (shape.shared_bytes + static_bytes > target.max_shared_bytes)
        return std::to_string(shape.shared_bytes + static_bytes) +
               " bytes of shared memory are more than the " + std::to_string(target.max_shared_bytes) +
               " that a block can have";
    shape.registers = estimate_registers(core, pipeline, schedule);
    shape.least_extent = {shape.tile[0], 1, 1};
    if (has_rows) shape.least_extent[1] = shape.tile[1];
    shape.least_extent[pipeline.walked()] =
        std::max(8, pipeline.lead() + pipeline.tail() + shape.ring_planes);
    return shape;
}

namespace {

bool has_f32(const ir::Program& core, ir::ExprId value) {
    const std::vector<bool> reached = ir::reachable_exprs(core, {value});
    for (std::size_t e = 0; e < reached.size(); ++e)
        if (reached[e] && core.exprs[e].type == ir::Scalar::f32) return true;
    return false;
}

// What a cell and step takes of a thread's issue slots, in instructions of f32.
double instructions_of_cell(const ir::Program& core, const Pipeline& pipeline,
                            const TemporalSchedule& schedule) {
    constexpr double kTurn = 30;   // of a turn beside the cells'
    constexpr double kMove = 2.3;  // of a plane that moves: also what it keeps from being reordered
    const double cells = schedule.cells[0] * schedule.cells[1];
    double instructions = 0;
    Footprints footprints(core);
    for (const Pipeline::Stage& stage : pipeline.stages) {
        const Operations operations = footprints.of(stage.stage).operations;
        const bool wide = std::ranges::any_of(
            stage.uses, [&](const Pipeline::Use& use) { return core[use.field].type == ir::Scalar::f64; });
        instructions += (wide ? 2.0 : 1.0) *
                        (operations.adds + operations.multiplies + operations.fmas + operations.comparisons +
                         8 * operations.divisions + 8 * operations.roots + 20 * operations.functions);
    }
    for_each_reduction(core, pipeline, [&](const ir::Reduce& reduce) {
        constexpr double kConvert = 6, kAddWide = 2;  // a sum is of f64
        constexpr double kKeep = 3;        // what counts; and such instructions are slower than others
        constexpr double kChooseWide = 3;  // compared, and two words
        instructions += kKeep;
        if (reduce.op == ir::ReduceOp::sum) {
            instructions += kAddWide - 1 + (has_f32(core, reduce.value) ? kConvert : 0);
        } else if (words_of_reduction(core, reduce) > 1) {
            instructions += kChooseWide;
        }
    });
    for (const Pipeline::Queue& queue : pipeline.queues) {
        const double words = bytes_of(core, queue.field) / 4.0;
        const double rows = queue.has_corners ? schedule.cells[1] + queue.lines() : schedule.cells[1];
        instructions += 1.2 * words * (queue.reach[0][0] + queue.reach[0][1]) * rows / cells;
        instructions += words * queue.lines() * schedule.cells[0] / cells;
        // Planes move down their queues where registers do not come round; f64 arithmetic leaves time for it.
        if (pipeline.rank == 3 && schedule.unroll == 1 && queue.role != ir::Role::input && words < 2)
            instructions += kMove * (queue.slots - 1);
    }
    return instructions + 0.6 + kTurn / (cells * pipeline.steps);
}

}  // namespace

double instructions_of_turn(const ir::Program& core, const Pipeline& pipeline,
                            const TemporalSchedule& schedule) {
    return instructions_of_cell(core, pipeline, schedule) * pipeline.steps * schedule.cells[0] *
           schedule.cells[1];
}

std::int64_t tiles_of(const Pipeline& pipeline, const TemporalShape& shape, const Extent& extent) {
    std::int64_t tiles = 1;
    for (int axis = 0; axis < pipeline.walked(); ++axis) {
        const auto at = static_cast<std::size_t>(axis);
        tiles *= (extent[at] + 2 * shape.out[at] - 1 - shape.out_alone[at]) / shape.out[at];
    }
    return tiles;
}

std::int64_t parts_of_tile(const Pipeline& pipeline, const TemporalSchedule& schedule, std::int64_t tiles) {
    const std::int64_t workers = workers_of(pipeline, schedule);
    const std::int64_t rest = pipeline.rank == 2 ? kBlocksOfRest * schedule.warps - 1 : 0;
    return workers % tiles <= rest ? workers / tiles : 0;
}

int walks_of_column(const ir::Program& program, const TemporalSchedule& schedule, const Target& target,
                    const Extent& extent) {
    const ir::Program core = temporal_core(program, schedule.reductions).program;
    const auto formed = form_pipeline(core, schedule.steps);
    const auto* const pipeline = std::get_if<Pipeline>(&formed);
    if (pipeline == nullptr) return 0;
    const auto shaped = temporal_shape(core, *pipeline, schedule, target);
    const auto* const shape = std::get_if<TemporalShape>(&shaped);
    if (shape == nullptr) return 0;
    const std::int64_t parts = parts_of_tile(*pipeline, schedule, tiles_of(*pipeline, *shape, extent));
    if (schedule.blocks > target.sms * schedule.min_blocks) return static_cast<int>(parts);
    // All walks begin together. Those that are left to two borders make the others longer by so many planes;
    // borders after all of them would take their ghosts, and the turns that a walk begins with.
    if (parts <= 2) return 0;
    const double planes = static_cast<double>(extent[static_cast<std::size_t>(pipeline->walked())]);
    const double longer = 2 * planes / static_cast<double>(parts * (parts - 2));
    const double after = 1.5 * (pipeline->lead() + pipeline->tail());
    return longer < after ? static_cast<int>(parts) : 0;
}

double temporal_seconds(const ir::Program& core, const Pipeline& pipeline, const TemporalShape& shape,
                        const TemporalSchedule& schedule, const Target& target, const Extent& extent) {
    // Fitted to what an H200 does. Where warps meet at every turn, little of the memory's time is hidden
    // behind the arithmetic; else the more the more warps there are.
    constexpr double kIssueOfMeeting = 0.75;  // of the issue slots' time that is seen beside the memory's,
    constexpr double kWordsToMeet = 128;      // where all warps of an SM hold so many words a lane
    constexpr double kIssueOfAlone = 0.84, kWarpsToHalfIssue = 1.6, kOverlap = 0.29;  // where none meet
    // By which equal shares differ in time, where there is one wave of them: those of warps, more where those
    // at a side take a loop of their own; and of blocks.
    constexpr double kUneven = 0.03, kUnevenAtSides = 0.2, kUnevenBlocks = 0.2;
    constexpr double kOutOfStep = 0.01;    // of its walk a tile is before or behind its neighbours
    constexpr double kMissedBeside = 0.1;  // of what they read again: in step,
    constexpr double kMissedApart = 0.3;   // and more where they are so far out of it that the cache is full
    constexpr double kLanesPerSm = 128, kClock = 1.9e9;
    bool meets = false;
    double bytes_read = 0, bytes_written = 0, widest = 1;  // words
    for (const Pipeline::Queue& queue : pipeline.queues) {
        widest = std::max(widest, bytes_of(core, queue.field) / 4.0);
        meets = meets || queue.lines() > 0;
        if (queue.role == ir::Role::intermediate) continue;
        const double bytes = bytes_of(core, queue.field);
        bytes_read += bytes * queue.arriving;
        if (queue.role == ir::Role::state)
            bytes_written += bytes * std::min(1 + core[queue.field].history, pipeline.steps);
    }
    const double walk = static_cast<double>(extent[static_cast<std::size_t>(pipeline.walked())]);
    const std::int64_t tile_count = tiles_of(pipeline, shape, extent);
    const auto tiles = static_cast<double>(tile_count);
    const auto parts = static_cast<double>(parts_of_tile(pipeline, schedule, tile_count));
    const bool side_by_side = parts > 0;
    const double workers = side_by_side ? parts * tiles : static_cast<double>(workers_of(pipeline, schedule));
    // With one block an SM nothing is done while the first planes are on their way.
    constexpr double kTurnsToArrive = 2;
    const double waited = pipeline.rank == 3 && schedule.min_blocks == 1 ? kTurnsToArrive : 0;
    // Shares that go on in a second tile begin twice, and where all run together those are waited for.
    double walks = std::max(workers, tiles);
    const double at_once = static_cast<double>(target.sms) * schedule.min_blocks;
    if (pipeline.rank == 2 && !side_by_side) walks += schedule.blocks > at_once ? tiles : workers;
    const double starts = walks * (pipeline.lead() + pipeline.tail() + waited);
    const double computed = (tiles * walk + starts) * shape.tile[0] * shape.tile[1];
    const double all =
        static_cast<double>(extent[0]) * static_cast<double>(extent[1]) * static_cast<double>(extent[2]);
    // Shares are done in waves, whose last one may leave SMs without work.
    const double waves = schedule.blocks / at_once;
    // The longer a block's turn in a row of them is past, the less do its last ones end together.
    constexpr double kWavesInStep = 2;
    double idle = 1 + (std::ceil(waves) / waves - 1) * std::min(1.0, kWavesInStep / waves);
    const bool has_sides = !shape.periodic[0] || extent[0] % schedule.cells[0] != 0;
    idle *= 1 + (pipeline.rank == 3 ? kUnevenBlocks
                 : has_sides        ? kUnevenAtSides
                                    : kUneven) /
                    std::ceil(waves);
    const double redundancy = computed / all;
    // Whole tiles, or equal parts of them, walk side by side: what neighbours read is in the cache still,
    // where they have not walked so far that they are out of step by more than it holds.
    const double plane = bytes_read * all / walk;
    const double apart =
        kOutOfStep * walk * std::min(1.0, tiles / workers) * plane / static_cast<double>(target.l2_bytes);
    const double missed = side_by_side ? kMissedBeside + kMissedApart * std::min(1.0, apart * apart) : 1;
    const double read_again = missed * (redundancy - 1);
    const double memory =
        (bytes_read * (1 + read_again) + bytes_written) / target.dram_bandwidth / pipeline.steps;
    const double issue =
        redundancy * instructions_of_cell(core, pipeline, schedule) / (kLanesPerSm * kClock * target.sms);
    // On a small grid what counts is how long a worker's planes take one after the other. Measured on an H200
    // by `haloc run` of maxwell2d, jacobi2d and cavity2d on 256 and 512 cells squared.
    constexpr double kStart = 2.0e-6, kTurn = 0.38e-6, kInstruction = 0.7e-9;  // seconds
    const double turns = tiles * walk / workers + pipeline.lead() + pipeline.tail();
    const double latency =
        (kStart + turns * (kTurn + kInstruction * instructions_of_turn(core, pipeline, schedule))) /
        (all * pipeline.steps);
    const double resident = static_cast<double>(schedule.warps) * schedule.min_blocks;
    const double held = resident * schedule.cells[0] * schedule.cells[1] * widest;
    if (meets)
        return std::max(latency,
                        idle * (memory + kIssueOfMeeting * issue / std::min(1.0, held / kWordsToMeet)));
    const double compute = kIssueOfAlone * issue * (1 + kWarpsToHalfIssue / resident);
    return std::max(latency, idle * (std::max(compute, memory) + kOverlap * std::min(compute, memory)));
}

}  // namespace halo::schedule
