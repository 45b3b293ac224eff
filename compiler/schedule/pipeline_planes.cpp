// Where the planes of a pipeline are, from iteration to iteration.
#include <algorithm>
#include <cstdlib>

#include "compiler/schedule/pipeline.h"

namespace halo::schedule {

bool is_within_plane(const ir::Offset& offset, int streaming_axis) {
    for (int axis = 0; axis < streaming_axis; ++axis)
        if (offset[axis] != 0) return true;
    return false;
}

const Pipeline::Queue* Pipeline::find(ir::FieldId field) const {
    const auto found = std::ranges::find(queues, field, &Queue::field);
    return found == queues.end() ? nullptr : &*found;
}

int Pipeline::levels(const Queue& queue) const {
    if (queue.role == ir::Role::input) return 0;
    return steps + queue.past() + (queue.is_read_next ? 1 : 0);
}

int Pipeline::last_lag() const {
    int lag = 0;
    for (const Stage& stage : stages)
        lag = std::max(lag, stage.lag);
    return lag + period * (steps - 1);
}

int Pipeline::ready(const Queue& queue, int step, int time) const {
    const int lag = stages[queue.writer].lag;
    return queue.role == ir::Role::state ? (step + time - 1) * period + lag : step * period + lag;
}

std::array<int, 2> Pipeline::arrival(const Queue& queue) const {
    std::array<int, 2> planes{1 << 20, -(1 << 20)};
    const auto add = [&](int plane) {
        planes[0] = std::min(planes[0], plane);
        planes[1] = std::max(planes[1], plane);
    };
    if (queue.role == ir::Role::state) {
        for (int level = 0; level < queue.arriving; ++level)
            add(-ready(queue, 0, -level));
        return planes;
    }
    if (queue.role != ir::Role::input) return planes;
    for (const Stage& stage : stages) {
        for (const Use& use : stage.uses) {
            if (use.field != queue.field) continue;
            int most = 0;
            for (const ir::Offset& offset : use.offsets)
                most = std::max(most, std::abs(offset[streaming_axis()]));
            add(-use.distance + most);
            add(-use.distance - period * (steps - 1) - most);
        }
    }
    return planes;
}

std::array<int, 2> Pipeline::arrival() const {
    std::array<int, 2> planes{1 << 20, -(1 << 20)};
    for (const Queue& queue : queues) {
        const std::array<int, 2> own = arrival(queue);
        planes[0] = std::min(planes[0], own[0]);
        planes[1] = std::max(planes[1], own[1]);
    }
    return planes;
}

// A traversal starts so many planes before the output, and earlier where a level lags behind its arrival.
int Pipeline::lead() const {
    int least_lag = 0;
    for (const Queue& queue : queues) {
        if (queue.role == ir::Role::state) least_lag = std::min(least_lag, -arrival(queue)[1]);
    }
    return halo[streaming_axis()][0] - least_lag;
}

int Pipeline::new_levels(const ir::Program& program) const {
    int history = 0;
    for (const Queue& queue : queues)
        if (queue.role == ir::Role::state) history = std::max(history, program[queue.field].history);
    return std::min(steps, history + 1);
}

}  // namespace halo::schedule
