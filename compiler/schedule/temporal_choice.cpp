// Choosing a temporal schedule: few candidates, each shaped, checked and ranked by the model. For a tuner:
// many.
#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/schedule/space.h"
#include "compiler/schedule/temporal.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

namespace {

constexpr int kMostSteps = 16;
constexpr double kWorthwhile = 1.0;  // of a single step's time, at most

constexpr int kUsualAhead = 4;

// So many turns bring a queue's registers round; in three dimensions they would be too many.
int usual_unroll(const ir::Program& core, const Pipeline& pipeline) {
    int slots = 1;
    bool keeps_windows = false;
    for (const Pipeline::Queue& queue : pipeline.queues) {
        if (queue.role == ir::Role::input) continue;
        slots = std::max({slots, queue.slots, queue.windows});
        keeps_windows = keeps_windows || queue.keeps_windows();
    }
    return core.rank() == 2 ? std::min(slots, 5) : keeps_windows ? 1 : 2;
}

// Blocks' shares of the grid for each that runs at a time. In two dimensions shares are of warps: uneven ends
// do not show.
int usual_waves(const ir::Program& core) {
    return core.rank() == 2 ? 8 : 1;
}

// Blocks that an SM has shared memory and threads for; and registers, by the estimate.
int blocks_in_shared(const Target& target, const TemporalShape& shape, int warps) {
    constexpr std::int64_t kSystemBytes = 1024;
    const auto by_shared = static_cast<int>(target.shared_bytes_per_sm / (shape.shared_bytes + kSystemBytes));
    return std::clamp(std::min(by_shared, target.max_threads_per_sm / (32 * warps)), 1,
                      target.max_blocks_per_sm);
}
int blocks_in_registers(const Target& target, const TemporalShape& shape, int warps) {
    return std::max(1, target.registers_per_sm / (32 * warps * std::max(shape.registers + 4, 32)));
}

int most_registers(const Target& target, const TemporalSchedule& schedule) {
    return std::min(target.max_registers_per_thread,
                    target.registers_per_sm / (32 * schedule.warps * schedule.min_blocks));
}

// What is in the way where the grid is too small; else empty.
std::string smaller_than_tiles(const ir::Program& core, const TemporalShape& shape, const Extent& extent) {
    for (int axis = 0; axis < core.rank(); ++axis) {
        const auto at = static_cast<std::size_t>(axis);
        if (extent[at] < shape.least_extent[axis])
            return "a grid of " + std::to_string(extent[at]) + " cells along " + core.axes[at].name +
                   " is smaller than the tiles";
    }
    return "";
}

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
        schedule.ahead = pins_.ahead.value_or(kUsualAhead);
        schedule.unroll = pins_.unroll.value_or(usual_unroll(core_, pipeline));
        const auto shaped = temporal_shape(core_, pipeline, schedule, target_);
        if (const auto* why = std::get_if<std::string>(&shaped)) {
            if (why_not_.empty()) why_not_ = *why;
            return false;
        }
        const auto& shape = std::get<TemporalShape>(shaped);
        if (!settle_blocks(shape, schedule)) return false;
        if (std::string why = smaller_than_tiles(core_, shape, extent_); !why.empty()) {
            why_not_ = std::move(why);
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
        schedule.min_blocks =
            pins_.min_blocks.value_or(std::min(blocks_in_shared(target_, shape, schedule.warps),
                                               blocks_in_registers(target_, shape, schedule.warps)));
        schedule.blocks = pins_.blocks.value_or(target_.sms * schedule.min_blocks * usual_waves(core_));
        const int limit = most_registers(target_, schedule);
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

// Shapes with what is usual for the rest, then the rest varied around the best of them.
class TemporalLister {
public:
    TemporalLister(const ir::Program& program, const Target& target, const Extent& extent,
                   const TemporalPins& pins)
        : core_(state_core(program)), target_(target), extent_(extent), pins_(pins) {}

    std::vector<Candidate> run() {
        const int first = pins_.steps.value_or(1), last = pins_.steps.value_or(kMostSteps);
        for (int steps = first; steps <= last; ++steps) {
            auto formed = form_pipeline(core_, steps);
            if (std::holds_alternative<std::string>(formed)) break;
            pipelines_.push_back(std::move(std::get<Pipeline>(formed)));
        }
        list_shapes();
        for (const Usual& usual : shapes_)
            vary(usual);
        std::stable_sort(found_.begin(), found_.end(),
                         [](const Candidate& a, const Candidate& b) { return a.rank < b.rank; });
        return std::move(found_);
    }

private:
    struct Usual {
        const Pipeline* pipeline;
        TemporalSchedule schedule;
        int waves;
        double seconds;
    };

    template <class T>
    static std::vector<T> values(const std::optional<T>& pinned, std::vector<T> others) {
        return pinned ? std::vector<T>{*pinned} : others;
    }

    void list_shapes() {
        constexpr std::size_t kMostShapes = 80;
        std::vector<std::array<int, 2>> boxes;
        for (const int columns : {4, 2, 1}) {
            for (const int rows : {1, 2, 4, 8})
                if (rows == 1 || core_.rank() == 3) boxes.push_back({columns, rows});
        }
        for (const Pipeline& pipeline : pipelines_) {
            for (const std::array<int, 2>& cells : values(pins_.cells, boxes)) {
                for (const int warps : values(pins_.warps, {2, 4, 8, 12, 16}))
                    add_shape(pipeline, cells, warps);
            }
        }
        std::stable_sort(shapes_.begin(), shapes_.end(),
                         [](const Usual& a, const Usual& b) { return a.seconds < b.seconds; });
        if (shapes_.size() > kMostShapes) shapes_.resize(kMostShapes);
    }

    void add_shape(const Pipeline& pipeline, const std::array<int, 2>& cells, int warps) {
        TemporalSchedule schedule;
        schedule.steps = pipeline.steps;
        schedule.cells = cells;
        schedule.warps = warps;
        schedule.ahead = pins_.ahead.value_or(kUsualAhead);
        schedule.unroll = pins_.unroll.value_or(usual_unroll(core_, pipeline));
        const auto shaped = temporal_shape(core_, pipeline, schedule, target_);
        if (std::holds_alternative<std::string>(shaped)) return;
        const auto& shape = std::get<TemporalShape>(shaped);
        schedule.min_blocks = pins_.min_blocks.value_or(
            std::min(blocks_in_shared(target_, shape, warps), blocks_in_registers(target_, shape, warps)));
        const int waves = usual_waves(core_);
        schedule.blocks = pins_.blocks.value_or(target_.sms * schedule.min_blocks * waves);
        if (const std::optional<double> seconds = rate(pipeline, schedule))
            shapes_.push_back({&pipeline, schedule, waves, *seconds});
    }

    // Seconds a cell and step; none where it cannot be built, or would surely spill.
    std::optional<double> rate(const Pipeline& pipeline, const TemporalSchedule& schedule) const {
        constexpr double kRoom = 1.15;  // registers are an estimate: what spills is seen when it is compiled
        const auto shaped = temporal_shape(core_, pipeline, schedule, target_);
        if (std::holds_alternative<std::string>(shaped)) return std::nullopt;
        const auto& shape = std::get<TemporalShape>(shaped);
        if (shape.registers > kRoom * most_registers(target_, schedule) && !pins_.cells) return std::nullopt;
        if (schedule.min_blocks > blocks_in_shared(target_, shape, schedule.warps) && !pins_.min_blocks)
            return std::nullopt;
        if (!smaller_than_tiles(core_, shape, extent_).empty()) return std::nullopt;
        return temporal_seconds(core_, pipeline, shape, schedule, target_, extent_);
    }

    // The model knows little of these: what is usual comes first.
    void vary(const Usual& usual) {
        constexpr double kUnusual = 1.04;  // what the rank of others is multiplied by
        const int least = usual.schedule.min_blocks;
        std::set<int> counts{least, least + 1, std::max(1, least - 1)};
        if (pins_.min_blocks) counts = {*pins_.min_blocks};
        std::set<int> unrolls{1, 2, 3, usual.schedule.unroll};
        if (pins_.unroll) unrolls = {*pins_.unroll};
        for (const int ahead : values(pins_.ahead, {2, 3, kUsualAhead, 6})) {
            for (const int min_blocks : counts) {
                for (const int waves : pins_.blocks ? std::vector{usual.waves} : std::vector{1, 2, 4, 8}) {
                    TemporalSchedule schedule = usual.schedule;
                    schedule.ahead = ahead;
                    schedule.min_blocks = min_blocks;
                    schedule.blocks = pins_.blocks.value_or(target_.sms * min_blocks * waves);
                    const std::optional<double> seconds = rate(*usual.pipeline, schedule);
                    if (!seconds) continue;
                    for (const int unroll : unrolls) {
                        schedule.unroll = unroll;
                        const int unusual = (ahead != usual.schedule.ahead) + (min_blocks != least) +
                                            (waves != usual.waves) + (unroll != usual.schedule.unroll);
                        found_.push_back({{}, *seconds * std::pow(kUnusual, unusual), seconds, schedule});
                    }
                }
            }
        }
    }

    const ir::Program core_;
    const Target& target_;
    const Extent& extent_;
    const TemporalPins& pins_;
    std::vector<Pipeline> pipelines_;  // by steps
    std::vector<Usual> shapes_;
    std::vector<Candidate> found_;
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

TemporalCandidates list_temporal_candidates(const ir::Program& program, const Target& target,
                                            const Extent& extent, const TemporalPins& pins, int most) {
    const TemporalChoice chosen = TemporalChooser(program, target, extent, pins).run();
    std::vector<Candidate> others = TemporalLister(program, target, extent, pins).run();
    TemporalCandidates candidates;
    if (chosen.schedule) {
        double rank = chosen.seconds_per_cell;
        if (!others.empty()) rank = std::min(rank, others.front().rank);
        candidates.found.push_back({{}, rank, chosen.seconds_per_cell, chosen.schedule});
    }
    for (Candidate& each : others) {
        if (std::ssize(candidates.found) > most) break;
        if (each.temporal != chosen.schedule) candidates.found.push_back(std::move(each));
    }
    if (candidates.found.empty()) candidates.why_none = chosen.reason;
    return candidates;
}

}  // namespace halo::schedule
