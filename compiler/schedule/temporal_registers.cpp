// An estimate of the registers that a thread of a temporal kernel takes.
#include <algorithm>
#include <set>

#include "compiler/schedule/temporal_estimates.h"
#include "compiler/schedule/temporal_model.h"

namespace halo::schedule {

namespace {

// Whether a step's new plane of f32 waits in registers beside its queue until the iteration ends; sums that
// are carried from plane to plane take its place.
bool keeps_new_planes(const Pipeline& pipeline, const Pipeline::Queue& queue, int words) {
    return pipeline.rank == 2 && words == 1 && queue.role != ir::Role::input && !queue.fold;
}

int computed_queues(const Pipeline& pipeline) {
    return static_cast<int>(std::ranges::count_if(
        pipeline.queues, [](const auto& queue) { return queue.role != ir::Role::input; }));
}

// Registers for what a stage reads of a queue: its window or its own cells.
int read_registers(const ir::Program& core, const Pipeline& pipeline, const Pipeline::Queue& queue,
                   const TemporalSchedule& schedule) {
    const int words = words_of(core, queue.field);
    const int cells = values_of_thread(pipeline, schedule), of_row = cells / schedule.cells[1];
    if (!queue.has_window) return cells * words;
    const int columns = values_beside(pipeline, queue);
    const int box = (of_row + columns) * (schedule.cells[1] + queue.lines());
    const int cross = cells + columns * schedule.cells[1] + queue.lines() * of_row;
    // Of a wide window only a part is in registers at a time.
    return std::min(queue.has_corners ? box : cross, 2 * cells + temporal_model::kMostOfWindow) * words;
}

// The stages of a step follow each other, so that the one that reads most has them.
int most_read_registers(const ir::Program& core, const Pipeline& pipeline, const TemporalSchedule& schedule) {
    int most = 0;
    for (const Pipeline::Stage& stage : pipeline.stages) {
        std::set<ir::FieldId> read;
        for (const Pipeline::Use& use : stage.uses)
            read.insert(use.field);
        int registers = 0;
        for (const ir::FieldId field : read)
            registers += read_registers(core, pipeline, *pipeline.find(field), schedule);
        most = std::max(most, registers);
    }
    return most;
}

// Of each level, the planes that stay from one iteration to the next.
int kept_planes(const Pipeline& pipeline, const Pipeline::Queue& queue) {
    return queue.slots - (pipeline.later_first ? 0 : 1);
}

// Registers that hold the planes of a queue: those of all levels at once.
int queue_registers(const ir::Program& core, const Pipeline& pipeline, const Pipeline::Queue& queue,
                    const TemporalSchedule& schedule) {
    const int words = words_of(core, queue.field);
    const int cells = values_of_thread(pipeline, schedule);
    const int levels = pipeline.levels(queue);
    const int columns = values_beside(pipeline, queue);
    const int box = (cells / schedule.cells[1] + columns) * (schedule.cells[1] + queue.lines());
    int registers = 0;
    for (const lower::RowSum& sum : queue.row_sums)
        registers += pipeline.steps * (sum.high - sum.low) * cells * lower::words_of_sum(core, sum);
    if (queue.keeps_windows()) {
        registers += pipeline.steps * (queue.windows - 1) * box * words;
        registers += levels * std::max(queue.slots - 2, 0) * cells * words;
    } else {
        const bool is_long = pipeline.rank == 2 && queue.slots > temporal_model::kLongQueue &&
                             computed_queues(pipeline) >= temporal_model::kMostFieldsHeld;
        registers += levels * (kept_planes(pipeline, queue) - (is_long ? 1 : 0)) * cells * words;
    }
    if (queue.fold) registers += pipeline.steps * queue.fold->values() * cells * words;
    if (queue.fold && pipeline.rank == 2 && words == 1)
        registers +=
            temporal_model::kFoldStepRegisters * pipeline.steps - temporal_model::kFoldSpareRegisters;
    if (keeps_new_planes(pipeline, queue, words))
        registers +=
            pipeline.steps * cells *
            (pipeline.is_packed() ? temporal_model::kNewPackedEighths : temporal_model::kNewPlaneEighths) / 8;
    return registers;
}

// Values that stay in registers from one iteration to the next.
int kept_values(const Pipeline& pipeline, const Pipeline::Queue& queue, int cells) {
    const int planes = pipeline.levels(queue) * kept_planes(pipeline, queue);
    return (planes + (queue.fold ? pipeline.steps * queue.fold->values() / 2 : 0)) * cells;
}

}  // namespace

std::optional<int> squeezed_registers(const ir::Program& core, const Pipeline& pipeline,
                                      const TemporalSchedule& schedule) {
    // What is known of compilers is of one state, with inputs or without, and of these cells a thread.
    if (pipeline.rank < 3 || computed_queues(pipeline) != 1 || schedule.cells != std::array{2, 4})
        return std::nullopt;
    bool reduces = false;
    for_each_reduction(core, pipeline, [&](const ir::Reduce&) { reduces = true; });
    if (reduces) return std::nullopt;
    int kept = 0, registers = temporal_model::kSqueezedRegisters;
    for (const Pipeline::Queue& queue : pipeline.queues) {
        if (words_of(core, queue.field) > 1 || queue.keeps_windows() || core[queue.field].history > 0)
            return std::nullopt;
        if (queue.role == ir::Role::input) registers += temporal_model::kFieldRegisters;
        if (queue.invariant) registers += temporal_model::kInvariantRegisters;
        kept += kept_values(pipeline, queue, values_of_thread(pipeline, schedule));
    }
    return registers + kept + (kept * temporal_model::kSqueezedTenths + 9) / 10;
}

int count_lets(const Pipeline& pipeline) {
    return static_cast<int>(
        std::ranges::count(pipeline.queues, ir::Role::intermediate, &Pipeline::Queue::role));
}

int temporal_registers(const ir::Program& core, const Pipeline& pipeline, const TemporalSchedule& schedule) {
    const bool has_rows = pipeline.rank == 3;
    const int fields = static_cast<int>(std::ssize(pipeline.queues)) - std::max(0, count_lets(pipeline) - 1);
    int registers = temporal_model::kPlaceRegisters + (has_rows ? temporal_model::kRowRegisters : 0) +
                    temporal_model::kFieldRegisters * std::min(fields, temporal_model::kMostFieldsHeld) +
                    most_read_registers(core, pipeline, schedule);
    int widest = 1;  // words of a value
    int most_slots = 1;
    bool has_boxes = false, is_rotated = true;  // every queue, by the unrolled iterations
    for (const Pipeline::Queue& queue : pipeline.queues) {
        registers += queue_registers(core, pipeline, queue, schedule);
        widest = std::max(widest, words_of(core, queue.field));
        most_slots = std::max(most_slots, queue.slots);
        has_boxes = has_boxes || (queue.fold && queue.has_corners);
        is_rotated = is_rotated && schedule.unroll % std::max(queue.slots, 1) == 0;
    }
    for_each_reduction(core, pipeline, [&](const ir::Reduce& reduce) {
        registers +=
            (pipeline.steps + temporal_model::kReductionRegisters) * words_of_reduction(core, reduce);
    });
    if (schedule.unroll > 1 && has_rows)
        registers +=
            (is_rotated ? temporal_model::kRotatedInFlight : temporal_model::kMovedInFlight) * widest;
    const bool are_few = std::ssize(pipeline.queues) <= temporal_model::kMostFieldsHeld;
    if (schedule.unroll > 1 && !has_rows && widest > 1 && are_few)
        registers +=
            std::max(0, temporal_model::kWideInFlight - temporal_model::kWideInFlightOfSlot * most_slots);
    if (schedule.unroll > 1 && pipeline.is_packed()) registers += temporal_model::kPackedInFlight;
    if (has_rows && computed_queues(pipeline) > temporal_model::kFewQueues)
        registers += temporal_model::kQueuesInFlight;
    if (has_rows &&
        std::ranges::any_of(pipeline.queues, [](const auto& queue) { return queue.invariant.has_value(); }))
        registers += temporal_model::kInvariantRegisters;
    if (widest > 1) registers += temporal_model::kWideRegisters;
    registers += temporal_model::kDrawnEighths * operations_of(core, pipeline).all().draws *
                 schedule.cells[0] * schedule.cells[1] * pipeline.steps *
                 (schedule.unroll > 1 ? temporal_model::kDrawnUnrolled : 1) / 8;
    if (has_boxes && has_rows) {
        const Operations work = operations_of(core, pipeline).all();
        registers += std::min(temporal_model::kMostOfBox,
                              (work.adds + work.multiplies + work.fmas) / temporal_model::kBoxOperations);
    }
    return registers;
}

}  // namespace halo::schedule
