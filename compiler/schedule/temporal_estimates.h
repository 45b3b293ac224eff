// What a temporal kernel's estimates share: its registers (temporal_registers.cpp), and its instructions and
// time (temporal.cpp). Not for other rooms.
#pragma once

#include <algorithm>
#include <optional>
#include <variant>

#include "compiler/schedule/footprint.h"
#include "compiler/schedule/temporal.h"

namespace halo::schedule {

inline int bytes_of(const ir::Program& core, ir::FieldId field) {
    return size_of(core[field].storage);
}

// Registers of a value: of packed cells those of a word.
inline int words_of(const ir::Program& core, ir::FieldId field) {
    return std::max(1, bytes_of(core, field) / 4);
}

// Values of a thread in a plane: cells, or words of packed ones.
inline int values_of_thread(const Pipeline& pipeline, const TemporalSchedule& schedule) {
    return schedule.cells[0] * schedule.cells[1] / pipeline.cells_of_word;
}

// Those beside a row that come from other lanes.
inline int values_beside(const Pipeline& pipeline, const Pipeline::Queue& queue) {
    return pipeline.words_of(queue.reach[0][0]) + pipeline.words_of(queue.reach[0][1]);
}

template <class Visit>
void for_each_reduction(const ir::Program& core, const Pipeline& pipeline, Visit&& visit) {
    for (const Pipeline::Stage& stage : pipeline.stages)
        for (const int index : stage.stage.statements)
            if (const auto* reduce =
                    std::get_if<ir::Reduce>(&core.statements[static_cast<std::size_t>(index)]))
                visit(*reduce);
}

// Operations of a cell and step: of stages that read f64, and of the others; and those of step-invariant
// values, once for all steps.
struct StepOperations {
    Operations narrow, wide, once;
    Operations all() const {
        Operations sum = narrow;
        return sum += wide;
    }
};
StepOperations operations_of(const ir::Program& core, const Pipeline& pipeline);

// Of a thread.
int temporal_registers(const ir::Program& core, const Pipeline& pipeline, const TemporalSchedule& schedule);

// Those that a thread gets by with where it is limited to so many; nullopt where that is not known.
std::optional<int> squeezed_registers(const ir::Program& core, const Pipeline& pipeline,
                                      const TemporalSchedule& schedule);

// The registers that a thread can have, by the blocks that share an SM.
int most_registers(const TemporalSchedule& schedule, const Target& target);
// Whether it has more values than that, and gets by with it.
bool counts_on_squeezing(const TemporalShape& shape, const TemporalSchedule& schedule, const Target& target);

}  // namespace halo::schedule
