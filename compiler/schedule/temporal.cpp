#include "compiler/schedule/temporal.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/shown_cells.h"
#include "compiler/schedule/footprint.h"
#include "compiler/schedule/issue_model.h"
#include "compiler/schedule/strategy_parts.h"
#include "compiler/schedule/temporal_estimates.h"
#include "compiler/schedule/temporal_model.h"

namespace halo::schedule {

StepOperations operations_of(const ir::Program& core, const Pipeline& pipeline) {
    Footprints footprints(core);
    StepOperations operations;
    for (const Pipeline::Stage& stage : pipeline.stages) {
        const bool is_wide = std::ranges::any_of(
            stage.uses, [&](const Pipeline::Use& use) { return core[use.field].type == ir::Scalar::f64; });
        Operations& of_step = is_wide ? operations.wide : operations.narrow;
        of_step += footprints.of(stage.stage).operations;
        for (const Pipeline::Use& use : stage.uses)
            if (const auto& invariant = pipeline.find(use.field)->invariant)
                of_step -= operations_in(core, *invariant);
    }
    for (const Pipeline::Queue& queue : pipeline.queues)
        if (queue.invariant) operations.once += operations_in(core, *queue.invariant);
    return operations;
}

namespace {

constexpr int kLanes = 32;
constexpr int kSectorBytes = 32;
constexpr int kMostColumns = 4;  // of a row, of which each has a register
constexpr int kLineBytes = 128;
constexpr int kMostShiftedCells = 2;
constexpr std::int64_t kReductionBytes =
    3 * 256;  // shared memory in which a block combines its warps' results

// A worker is a block, in two dimensions a warp.
std::int64_t workers_of(const Pipeline& pipeline, const TemporalSchedule& schedule) {
    return std::int64_t{schedule.blocks} * (pipeline.rank == 2 ? schedule.warps : 1);
}

bool is_periodic(const ir::Program& core, const Pipeline& pipeline, int axis) {
    return std::ranges::any_of(pipeline.queues, [&](const Pipeline::Queue& queue) {
        const ir::Field& field = core[queue.field];
        return field.image(axis, 0).wraps() && field.halo[axis][0] + field.halo[axis][1] > 0;
    });
}

// Words hold four cells each, and vectors have no more than 16 bytes.
std::string refused_cells(const Pipeline& pipeline, const TemporalSchedule& schedule) {
    const int cells = schedule.cells[0];
    if (pipeline.is_packed() && cells % pipeline.cells_of_word != 0)
        return "of single bytes a thread has 4, 8 or 16 cells of a row, not " + std::to_string(cells);
    if (!pipeline.is_packed() && cells > kMostColumns)
        return "a thread has " + std::to_string(cells) + " cells of a row only of single bytes";
    return "";
}

// Neighbours come from the adjacent lane or the adjacent warp, and from no others.
std::string refused_reach(const ir::Program& core, const Pipeline& pipeline,
                          const TemporalSchedule& schedule) {
    for (const Pipeline::Queue& queue : pipeline.queues) {
        const ir::Field& field = core[queue.field];
        for (int axis = 0; axis < pipeline.streaming_axis(); ++axis) {
            const int cells = schedule.cells[static_cast<std::size_t>(axis)];
            const std::string& name = core.axes[static_cast<std::size_t>(axis)].name;
            for (int side = 0; side < 2; ++side) {
                const int reach = queue.reach[axis][side];
                if (reach > cells)
                    return "`" + field.name + "` is read " + std::to_string(reach) + " cells away along " +
                           name + ", and a thread has " + std::to_string(cells);
                const rt::ImageMap shown = ir::shown_cells(core, field, axis, side).map;
                if (shown.reflects() && reach > 0 && shown.inwards(reach) >= cells)
                    return "the mirror of `" + field.name + "` along " + name + " shows cells " +
                           std::to_string(reach) + " away, and a thread has " + std::to_string(cells);
            }
        }
    }
    return "";
}

// A row of a ring has the alignment that it has in memory, as asynchronous copies are only then coalesced
// into whole lines. The rows of a block begin at the same place in a line, so they can follow each other; the
// tiles of independent warps begin at different places.
void shape_rings(TemporalShape& shape, const Pipeline& pipeline, const TemporalSchedule& schedule) {
    const bool is_of_block = pipeline.rank == 3;
    shape.ring_row = is_of_block ? round_up(shape.tile[0], shape.line) : shape.tile[0] + shape.line;
    shape.ring_padding = is_of_block ? shape.line : 0;
    // States have one ring, though some may arrive a plane later: a place in a second one takes more
    // registers than it saves of shared memory. An input's planes stay for all steps.
    std::optional<std::array<int, 2>> of_states;
    for (const Pipeline::Queue& queue : pipeline.queues) {
        if (queue.arriving == 0 || queue.role == ir::Role::input) continue;
        const auto [first, last] = pipeline.arrival(queue);
        of_states = of_states
                        ? std::array{std::min(first, of_states->front()), std::max(last, of_states->back())}
                        : std::array{first, last};
    }
    for (const Pipeline::Queue& queue : pipeline.queues) {
        if (queue.arriving == 0) continue;
        const auto [first, last] = queue.role == ir::Role::input ? pipeline.arrival(queue) : *of_states;
        shape.rings[queue.field] = {first, last - first + 1 + schedule.ahead};
    }
}

}  // namespace

int words_of_reduction(const ir::Program& core, const ir::Reduce& reduce) {
    return reduce.op != ir::ReduceOp::sum && core[reduce.value].type == ir::Scalar::f32 ? 1 : 2;
}

int TemporalShape::most_ring_planes() const {
    int most = 1;
    for (const auto& [field, ring] : rings)
        most = std::max(most, ring.planes);
    return most;
}

std::int64_t TemporalShape::tiles_along(int axis, std::int64_t extent) const {
    const auto at = static_cast<std::size_t>(axis);
    const auto tiles = [&](int extra) {
        return (extent + 2 * out[at] - 1 - out_single[at] - extra) / out[at];
    };
    if (axis > 0 || tiles(0) > kMostShiftedTiles) return tiles(0);
    return tiles(shift);
}

double TemporalShape::redundancy() const {
    return static_cast<double>(tile[0]) / out[0] * tile[1] / out[1];
}

std::variant<TemporalShape, std::string> temporal_shape(const ir::Program& core, const Pipeline& pipeline,
                                                        const TemporalSchedule& schedule,
                                                        const Target& target) {
    TemporalShape shape;
    const bool has_rows = pipeline.rank == 3;
    if (std::string why = refused_cells(pipeline, schedule); !why.empty()) return why;
    if (std::string why = refused_reach(core, pipeline, schedule); !why.empty()) return why;
    if (schedule.warps * kLanes > target.max_threads_per_block)
        return std::to_string(schedule.warps) + " warps are more than a block can have";
    for (int axis = 0; axis < pipeline.rank; ++axis)
        shape.periodic[axis] = is_periodic(core, pipeline, axis);
    int widest = 1, narrowest = 8;
    for (const Pipeline::Queue& queue : pipeline.queues) {
        widest = std::max(widest, bytes_of(core, queue.field));
        narrowest = std::min(narrowest, bytes_of(core, queue.field));
    }
    shape.line = kLineBytes / narrowest;
    shape.tile = {kLanes * schedule.cells[0], has_rows ? schedule.warps * schedule.cells[1] : 1};
    shape.rows = schedule.warps * (has_rows ? schedule.cells[1] : 1);
    // The output of a tile begins at a multiple of a sector of memory.
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
    for (int axis = 0; axis < pipeline.streaming_axis(); ++axis) {
        const auto at = static_cast<std::size_t>(axis);
        shape.out_single[at] = shape.out[at];
        if (shape.periodic[at]) continue;
        // The outputs of the other tiles begin at multiples of a sector, too.
        const int around_high =
            has_rows && axis == 1 ? pipeline.halo[1][1] : round_up(pipeline.halo[0][1], schedule.cells[0]);
        const int more = std::min(shape.tile[at] - around_high - shape.out[at], shape.halo_low[at]);
        shape.first_extra[at] = axis == 0 ? more / sector * sector : more;
        shape.out_single[at] = shape.first_extra[at] + shape.tile[at] - shape.halo_low[at];
        // Wide tiles are few, and their threads have no register to spare, nor have those of more steps,
        // whose ghost zones do not end with a sector.
        if (has_rows && axis == 0 && schedule.cells[0] <= kMostShiftedCells &&
            shape.out[0] + around == shape.tile[0]) {
            const int half = std::max(schedule.cells[0], sector / 2);
            shape.shift = (more - shape.first_extra[0]) / half * half;
        }
    }
    shape_rings(shape, pipeline, schedule);
    for (const Pipeline::Queue& queue : pipeline.queues) {
        const std::int64_t bytes = bytes_of(core, queue.field);
        if (queue.arriving > 0)
            shape.shared_bytes += bytes * queue.arriving * shape.elements_of(shape.rings.at(queue.field));
        if (has_rows && queue.role != ir::Role::input)
            shape.shared_bytes += bytes * pipeline.steps * 2 * schedule.warps * queue.lines() * shape.tile[0];
    }
    std::int64_t static_bytes = 0;
    for_each_reduction(core, pipeline, [&](const ir::Reduce&) { static_bytes = kReductionBytes; });
    if (shape.shared_bytes + static_bytes > target.max_shared_bytes)
        return std::to_string(shape.shared_bytes + static_bytes) +
               " bytes of shared memory are more than the " + std::to_string(target.max_shared_bytes) +
               " that a block can have";
    shape.registers = temporal_registers(core, pipeline, schedule);
    shape.squeezed = squeezed_registers(core, pipeline, schedule);
    shape.least_extent = {shape.tile[0], 1, 1};
    if (has_rows) shape.least_extent[1] = shape.tile[1];
    shape.least_extent[pipeline.streaming_axis()] =
        std::max(8, pipeline.lead() + pipeline.tail() + shape.most_ring_planes());
    return shape;
}

namespace {

bool has_f32(const ir::Program& core, ir::ExprId value) {
    const std::vector<bool> reached = ir::reachable_exprs(core, {value});
    for (std::size_t e = 0; e < reached.size(); ++e)
        if (reached[e] && core.exprs[e].type == ir::Scalar::f32) return true;
    return false;
}

// Instructions for the reductions of a cell and step.
double reduction_instructions(const ir::Program& core, const Pipeline& pipeline) {
    double instructions = 0;
    for_each_reduction(core, pipeline, [&](const ir::Reduce& reduce) {
        instructions += temporal_model::kSelectInstructions;
        if (reduce.op == ir::ReduceOp::sum) {
            // Sums are of f64; the addition is counted once among the stage's operations.
            instructions += temporal_model::kWideAddInstructions - 1 +
                            (has_f32(core, reduce.value) ? temporal_model::kConvertInstructions : 0);
        } else if (words_of_reduction(core, reduce) > 1) {
            instructions += temporal_model::kWideSelectInstructions;
        }
    });
    return instructions;
}

// The same where words hold the cells.
double packed_instructions_per_cell(const ir::Program& core, const Pipeline& pipeline,
                                    const TemporalSchedule& schedule) {
    const double words = values_of_thread(pipeline, schedule);
    double of_word = 0;
    for (const Pipeline::Stage& stage : pipeline.stages)
        of_word += stage.packed->instructions;
    for (const Pipeline::Queue& queue : pipeline.queues) {
        of_word += temporal_model::kShuffleInstructions * values_beside(pipeline, queue) / words;
        // They move on from row to row where no unrolled loop rotates registers.
        for (const lower::RowSum& sum : queue.row_sums)
            if (schedule.unroll % (sum.high - sum.low + 1) != 0)
                of_word += static_cast<double>(sum.high - sum.low) * lower::words_of_sum(core, sum) /
                           schedule.unroll;
    }
    return temporal_model::kPackedArithmetic * of_word / pipeline.cells_of_word +
           temporal_model::kIterationInstructions / (words * pipeline.cells_of_word * pipeline.steps);
}

// Instructions for a cell and step, as many of f32 as take the same issue slots.
double instructions_per_cell(const ir::Program& core, const Pipeline& pipeline,
                             const TemporalSchedule& schedule, const StepOperations& operations) {
    if (pipeline.is_packed()) return packed_instructions_per_cell(core, pipeline, schedule);
    const double cells = schedule.cells[0] * schedule.cells[1];
    double instructions = issue_slots(operations.narrow) +
                          temporal_model::kWideArithmetic * issue_slots(operations.wide) +
                          issue_slots(operations.once) / pipeline.steps;
    instructions += reduction_instructions(core, pipeline);
    for (const Pipeline::Queue& queue : pipeline.queues) {
        const double words = bytes_of(core, queue.field) / 4.0;
        const double rows = queue.has_corners ? schedule.cells[1] + queue.lines() : schedule.cells[1];
        instructions += temporal_model::kShuffleInstructions * words *
                        (queue.reach[0][0] + queue.reach[0][1]) * rows / cells;
        instructions += words * queue.lines() * schedule.cells[0] / cells;
        // Planes move along their queues where no unrolled loop rotates registers; f64 arithmetic hides that.
        if (pipeline.rank == 3 && schedule.unroll == 1 && queue.role != ir::Role::input && words < 2)
            instructions += temporal_model::kMoveInstructions * (queue.slots - 1);
    }
    return instructions + temporal_model::kCellInstructions +
           temporal_model::kIterationInstructions / (cells * pipeline.steps);
}

}  // namespace

double instructions_per_iteration(const ir::Program& core, const Pipeline& pipeline,
                                  const TemporalSchedule& schedule) {
    const StepOperations operations = operations_of(core, pipeline);
    return instructions_per_cell(core, pipeline, schedule, operations) * pipeline.steps * schedule.cells[0] *
           schedule.cells[1];
}

std::int64_t tiles_of(const Pipeline& pipeline, const TemporalShape& shape, const Extent& extent) {
    std::int64_t tiles = 1;
    for (int axis = 0; axis < pipeline.streaming_axis(); ++axis)
        tiles *= shape.tiles_along(axis, extent[static_cast<std::size_t>(axis)]);
    return tiles;
}

std::int64_t parts_of_tile(const Pipeline& pipeline, const TemporalSchedule& schedule, std::int64_t tiles) {
    const std::int64_t workers = workers_of(pipeline, schedule);
    const std::int64_t rest = pipeline.rank == 2 ? kMostIdleBlocks * schedule.warps - 1 : 0;
    return workers % tiles <= rest ? workers / tiles : 0;
}

int traversals_of_column(const ir::Program& program, const TemporalSchedule& schedule, const Target& target,
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
    // All traversals start together. Leaving two of them to the borders lengthens the others by so many
    // planes. Borders that follow all of them instead cost their ghosts, and a prologue and an epilogue each.
    if (parts <= 2) return 0;
    const double planes = static_cast<double>(extent[static_cast<std::size_t>(pipeline->streaming_axis())]);
    const double longer = 2 * planes / static_cast<double>(parts * (parts - 2));
    const double borders = temporal_model::kBorderIterations * (pipeline->lead() + pipeline->tail());
    return longer < borders ? static_cast<int>(parts) : 0;
}

namespace {

// What a cell moves between the device's memory and the chip, in all steps of a launch.
struct Traffic {
    double bytes_read = 0, bytes_written = 0;
    double words = 0;           // of a cell of all levels that a step computes
    bool synchronizes = false;  // a block's warps exchange rows in every iteration
};

Traffic traffic_of(const ir::Program& core, const Pipeline& pipeline) {
    Traffic traffic;
    for (const Pipeline::Queue& queue : pipeline.queues) {
        const double bytes = bytes_of(core, queue.field);
        if (queue.role != ir::Role::input) traffic.words += bytes / 4.0;
        traffic.synchronizes = traffic.synchronizes || queue.lines() > 0;
        if (queue.role == ir::Role::intermediate) continue;
        traffic.bytes_read += bytes * queue.arriving;
        if (queue.role == ir::Role::state)
            traffic.bytes_written += bytes * std::min(1 + core[queue.field].history, pipeline.steps);
    }
    return traffic;
}

// How the grid is divided among workers.
struct Division {
    double planes = 1;      // along the streaming axis
    double tiles = 1;       // across it
    double workers = 1;     // that have a share
    bool in_step = false;   // the shares are whole tiles or equal parts of them, and start together
    double iterations = 0;  // of all tiles, with the prologue and the epilogue of each traversal
};

Division divide(const Pipeline& pipeline, const TemporalShape& shape, const TemporalSchedule& schedule,
                const Target& target, const Extent& extent) {
    Division division;
    division.planes = static_cast<double>(extent[static_cast<std::size_t>(pipeline.streaming_axis())]);
    const std::int64_t tiles = tiles_of(pipeline, shape, extent);
    division.tiles = static_cast<double>(tiles);
    const auto parts = static_cast<double>(parts_of_tile(pipeline, schedule, tiles));
    division.in_step = parts > 0;
    division.workers =
        division.in_step ? parts * division.tiles : static_cast<double>(workers_of(pipeline, schedule));
    // With one block an SM nothing hides the latency of the first planes.
    const double waited =
        pipeline.rank == 3 && schedule.min_blocks == 1 ? temporal_model::kIterationsToArrive : 0;
    double traversals = std::max(division.workers, division.tiles);
    // A share that crosses from one tile into the next takes two traversals. In a single wave all wait for
    // such shares.
    const double at_once = static_cast<double>(target.sms) * schedule.min_blocks;
    if (pipeline.rank == 2 && !division.in_step)
        traversals += schedule.blocks > at_once ? division.tiles : division.workers;
    const double starts = traversals * (pipeline.lead() + pipeline.tail() + waited);
    division.iterations = division.tiles * division.planes + starts;
    return division;
}

// Factor on the time, 1 or more: SMs idle in a partial last wave, and where equal shares take unequal times.
double imbalance_of(const Pipeline& pipeline, const TemporalShape& shape, const TemporalSchedule& schedule,
                    const Target& target, const Extent& extent) {
    const double waves = schedule.blocks / (static_cast<double>(target.sms) * schedule.min_blocks);
    // After several waves blocks no longer start together, and a partial last wave idles fewer SMs.
    double imbalance =
        1 + (std::ceil(waves) / waves - 1) * std::min(1.0, temporal_model::kWavesInStep / waves);
    const bool has_faces = !shape.periodic[0] || extent[0] % schedule.cells[0] != 0;
    const bool copies_bytes = pipeline.is_packed() && extent[0] % schedule.cells[0] != 0;
    if (pipeline.is_packed()) imbalance *= 1 + temporal_model::kSmallBlocks * (1 - 1.0 / schedule.min_blocks);
    imbalance *= 1 + (pipeline.rank == 3 ? temporal_model::kBlockImbalance
                      : copies_bytes     ? temporal_model::kByteImbalance
                      : has_faces        ? temporal_model::kFaceImbalance
                                         : temporal_model::kWarpImbalance) /
                         std::ceil(waves);
    return imbalance;
}

// Of the bytes that overlapped tiles read once more than others do, the share that misses the cache.
double missed_share(const Division& division, double plane_bytes, const Target& target) {
    if (!division.in_step) return 1;
    const double drift = temporal_model::kDrift * division.planes *
                         std::min(1.0, division.tiles / division.workers) * plane_bytes /
                         static_cast<double>(target.l2_bytes);
    return temporal_model::kMissedInStep + temporal_model::kMissedByDrift * std::min(1.0, drift * drift);
}

}  // namespace

int most_registers(const TemporalSchedule& schedule, const Target& target) {
    return std::min(target.max_registers_per_thread,
                    target.registers_per_sm / (32 * schedule.warps * schedule.min_blocks));
}

bool counts_on_squeezing(const TemporalShape& shape, const TemporalSchedule& schedule, const Target& target) {
    const int limit = most_registers(schedule, target);
    return limit < target.max_registers_per_thread && shape.registers > temporal_model::kSqueezed * limit &&
           shape.squeezed.value_or(limit + 1) <= limit;
}

double temporal_seconds(const ir::Program& core, const Pipeline& pipeline, const TemporalShape& shape,
                        const TemporalSchedule& schedule, const Target& target, const Extent& extent) {
    const Traffic traffic = traffic_of(core, pipeline);
    const Division division = divide(pipeline, shape, schedule, target, extent);
    const double all =
        static_cast<double>(extent[0]) * static_cast<double>(extent[1]) * static_cast<double>(extent[2]);
    const double redundancy = division.iterations * shape.tile[0] * shape.tile[1] / all;
    const double read_again =
        missed_share(division, traffic.bytes_read * all / division.planes, target) * (redundancy - 1);
    const double memory = (traffic.bytes_read * (1 + read_again) + traffic.bytes_written) /
                          target.dram_bandwidth / pipeline.steps;
    const double warps = static_cast<double>(schedule.warps) * schedule.min_blocks;  // of an SM
    const StepOperations operations = operations_of(core, pipeline);
    const Operations work = operations.all();
    const double branches =
        work.divisions + work.roots +
        static_cast<double>(operations.once.divisions + operations.once.roots) / pipeline.steps;
    const double slots = instructions_per_cell(core, pipeline, schedule, operations) +
                         branches * temporal_model::kDivisionStall / warps;
    const double issue =
        redundancy * slots / (temporal_model::kLanesPerSm * temporal_model::kClock * target.sms);
    // On a small grid a worker's iterations take their latency one after the other.
    const double iterations =
        division.tiles * division.planes / division.workers + pipeline.lead() + pipeline.tail();
    const double iteration =
        temporal_model::kIterationSeconds +
        temporal_model::kInstructionSeconds * instructions_per_iteration(core, pipeline, schedule);
    const double latency = (temporal_model::kLaunchSeconds + iterations * iteration) / (all * pipeline.steps);
    const double imbalance = imbalance_of(pipeline, shape, schedule, target, extent);
    if (traffic.synchronizes) {
        const double words = warps * schedule.cells[0] * schedule.cells[1] * traffic.words;
        const double hidden = std::min(1.0, words / temporal_model::kWordsToHideIssue);
        const bool has_sums = std::ranges::any_of(
            pipeline.queues, [](const Pipeline::Queue& queue) { return queue.fold.has_value(); });
        const double limited =
            has_sums && counts_on_squeezing(shape, schedule, target) ? temporal_model::kSqueezedBox : 1;
        return std::max(latency,
                        limited * imbalance * (memory + temporal_model::kExposedIssue * issue / hidden));
    }
    const double compute =
        temporal_model::kIndependentIssue * issue * (1 + temporal_model::kWarpsToHalveIssue / warps);
    return std::max(latency, imbalance * (std::max(compute, memory) +
                                          temporal_model::kOverlap * std::min(compute, memory)));
}

}  // namespace halo::schedule
