// Choosing a temporal schedule: few candidates, each shaped, checked and ranked by the model.
#include <algorithm>
#include <cmath>

#include "compiler/schedule/temporal.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

namespace {

constexpr int kMostSteps = 16;
constexpr double kWorthwhile = 1.0;  // of a single step's time, at most

class TemporalChooser {
public:
    TemporalChooser(const ir::Program& program, const Target& target, const Extent& extent,
                    const TemporalPins& pins)
        : core_(state_core(program)), target_(target), extent_(extent), pins_(pins) {}

    TemporalChoice run() {
        const int first = pins_.steps.value_or(1), last = pins_.steps.value_or(kMostSteps);
        for (int steps = first; steps <= last; ++steps) {
            const auto formed = form_pipeline(core_, steps);
            if (const auto* why = std::get_if<std::string>(&formed)) {
                why_not_ = *why;
                break;
            }
            // What more steps need is never less.
            if (!try_shapes(std::get<Pipeline>(formed))) break;
        }
        if (!best_.schedule) best_.reason = why_not_;
        return best_;
    }

private:
    // Whether some shape can be built.
    bool try_shapes(const Pipeline& pipeline) {
        const bool has_rows = core_.rank() == 3;
        bool any = false;
        for (const int columns : {4, 2, 1}) {
            for (const int rows : has_rows ? std::vector<int>{4, 2} : std::vector<int>{1}) {
                // Sixteen warps where each holds little.
                any = try_shape(pipeline, {columns, rows},
                                !has_rows             ? 4
                                : columns * rows >= 8 ? 8
                                                      : 16) ||
                      any;
            }
        }
        return any;
    }

    bool try_shape(const Pipeline& pipeline, std::array<int, 2> cells, int warps) {
        TemporalSchedule schedule;
        schedule.steps = pipeline.steps;
        schedule.cells = pins_.cells.value_or(cells);
        schedule.warps = pins_.warps.value_or(warps);
        schedule.ahead = pins_.ahead.value_or(4);
        // So many turns bring a queue's registers round; in three dimensions they would be too many.
        int slots = 1;
        bool keeps_windows = false;
        for (const Pipeline::Queue& queue : pipeline.queues) {
            if (queue.role == ir::Role::input) continue;
            slots = std::max({slots, queue.slots, queue.windows});
            keeps_windows = keeps_windows || queue.keeps_windows();
        }
        const int unroll = core_.rank() == 2 ? std::min(slots, 5) : keeps_windows ? 1 : 2;
        schedule.unroll = pins_.unroll.value_or(unroll);
        const auto shaped = temporal_shape(core_, pipeline, schedule, target_);
        if (const auto* why = std::get_if<std::string>(&shaped)) {
            if (why_not_.empty()) why_not_ = *why;
            return false;
        }
        const auto& shape = std::get<TemporalShape>(shaped);
        if (!settle_blocks(shape, schedule)) return false;
        for (int axis = 0; axis < core_.rank(); ++axis) {
            if (extent_[static_cast<std::size_t>(axis)] >= shape.least_extent[axis]) continue;
            why_not_ = "a grid of " + std::to_string(extent_[static_cast<std::size_t>(axis)]) +
                       " cells along " + core_.axes[static_cast<std::size_t>(axis)].name +
                       " is smaller than the tiles";
            return false;
        }
        const double seconds = temporal_seconds(core_, pipeline, shape, schedule, target_, extent_);
        if (best_.schedule && seconds >= best_.seconds_per_cell) return true;
        best_.schedule = schedule;
        best_.seconds_per_cell = seconds;
        best_.reason = counted(schedule.steps, "step") + " in one pass over memory, computing " +
                       percent(shape.redundancy() - 1) + " more cells, in about " +
                       std::to_string(shape.registers) + " registers";
        return true;
    }

    static std::string percent(double share) {
        return std::to_string(static_cast<int>(std::lround(100 * share))) + " %";
    }

    // As many blocks as an SM has registers and shared memory for; false where values would be spilled.
    bool settle_blocks(const TemporalShape& shape, TemporalSchedule& schedule) {
        constexpr int kWaves = 8;  // of warps' shares in two dimensions: uneven ends do not show
        constexpr std::int64_t kSystemBytes = 1024;
        const int threads = 32 * schedule.warps;
        const int by_registers = target_.registers_per_sm / (threads * std::max(shape.registers + 4, 32));
        const auto by_shared =
            static_cast<int>(target_.shared_bytes_per_sm / (shape.shared_bytes + kSystemBytes));
        const int by_threads = target_.max_threads_per_sm / threads;
        schedule.min_blocks = pins_.min_blocks.value_or(
            std::clamp(std::min({by_registers, by_shared, by_threads}), 1, target_.max_blocks_per_sm));
        const int waves = core_.rank() == 2 ? kWaves : 1;
        schedule.blocks = pins_.blocks.value_or(target_.sms * schedule.min_blocks * waves);
        const int limit = std::min(target_.max_registers_per_thread,
                                   target_.registers_per_sm / (threads * schedule.min_blocks));
        if (shape.registers <= limit || pins_.cells) return true;
        why_not_ = counted(shape.registers, "register") + " a thread are more than the " +
                   std::to_string(limit) + " that there are";
        return false;
    }

    const ir::Program core_;
    const Target& target_;
    const Extent& extent_;
    const TemporalPins& pins_;
    TemporalChoice best_;
    std::string why_not_;
};

}  // namespace

TemporalChoice choose_temporal(const ir::Program& program, const Target& target, const Extent& extent,
                               double single_seconds, const std::optional<TemporalPins>& pins) {
    TemporalChoice choice = TemporalChooser(program, target, extent, pins.value_or(TemporalPins{})).run();
    if (pins || !choice.schedule || choice.seconds_per_cell < kWorthwhile * single_seconds) return choice;
    choice.schedule.reset();
    choice.reason = "single steps are about as fast";
    return choice;
}

}  // namespace halo::schedule
