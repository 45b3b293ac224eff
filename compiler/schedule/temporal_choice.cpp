// Choosing a temporal schedule: a few candidates are shaped, checked and ranked by the model. The tuner gets
// a longer list.
#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/schedule/space.h"
#include "compiler/schedule/temporal_model.h"
#include "compiler/schedule/temporal_passes.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

namespace {

constexpr int kUsualWarpsOfRows = 4;  // of a block, in two dimensions

// As many iterations as a queue has slots rotate its registers without moves. The unrolled loop may exceed
// the instruction cache.
int usual_unroll(const ir::Program& core, const Pipeline& pipeline, TemporalSchedule schedule) {
    schedule.unroll = 2;
    int slots = 1;
    double widest = 1;  // words: an instruction on two counts as two
    for (const Pipeline::Queue& queue : pipeline.queues) {
        if (queue.role != ir::Role::input) slots = std::max({slots, queue.slots, queue.windows});
        widest = std::max(widest, size_of(core[queue.field].type) / 4.0);
    }
    if (slots == 1) return 1;
    const double iteration = instructions_per_iteration(core, pipeline, schedule) / widest;
    if (core.rank() == 2) {
        const bool has_long_queues = count_lets(pipeline) > temporal_model::kMostFieldsHeld;
        const int rotated = std::min(
            slots, has_long_queues ? temporal_model::kMostUnrollOfLets : temporal_model::kMostUnroll);
        return rotated * iteration <= temporal_model::kCachedInRows ? rotated : 1;
    }
    if (slots == 3 && 3 * iteration <= temporal_model::kCachedInstructions) return 3;
    return 2 * iteration <= temporal_model::kCachedInstructions ? 2 : 1;
}

// How many blocks may share a grid: as many as are resident at once, with equal shares; or as many as have
// whole tiles or equal parts of them. In two dimensions, where warps are the workers, the parts are chosen to
// nearly fill a number of waves.
std::vector<int> usual_blocks(const Pipeline& pipeline, const TemporalShape& shape,
                              const TemporalSchedule& schedule, const Target& target, const Extent& extent) {
    const int at_once = target.sms * schedule.min_blocks;
    std::vector<int> counts{at_once};
    const std::int64_t tiles = tiles_of(pipeline, shape, extent);
    if (pipeline.rank == 2) {
        for (const int waves : temporal_model::kWaves) {
            const std::int64_t parts = std::int64_t{waves} * at_once * schedule.warps / tiles;
            const auto blocks = static_cast<int>((parts * tiles + schedule.warps - 1) / schedule.warps);
            if (parts > 0 && blocks != counts.back()) counts.push_back(blocks);
        }
        return counts;
    }
    for (int parts = 1; parts <= temporal_model::kMostParts; ++parts)
        if (tiles * parts > at_once && tiles * parts < temporal_model::kMostBlocksOfWave * at_once)
            counts.push_back(static_cast<int>(tiles * parts));
    return counts;
}

// Blocks that fit on an SM: by shared memory and threads; and by registers, which are estimated.
int blocks_in_shared(const Target& target, const TemporalShape& shape, int warps) {
    const auto by_shared =
        static_cast<int>(target.shared_bytes_per_sm / (shape.shared_bytes + kSystemSharedBytes));
    return std::clamp(std::min(by_shared, target.max_threads_per_sm / (32 * warps)), 1,
                      target.max_blocks_per_sm);
}
int blocks_in_registers(const Target& target, const TemporalShape& shape, int warps) {
    const int registers =
        std::max(shape.registers + temporal_model::kLimitRegisters, temporal_model::kLeastRegisters);
    return std::max(1, target.registers_per_sm / (32 * warps * registers));
}

int most_registers(const Target& target, const TemporalSchedule& schedule) {
    return std::min(target.max_registers_per_thread,
                    target.registers_per_sm / (32 * schedule.warps * schedule.min_blocks));
}

// Why the grid is too small; else empty.
std::string smaller_than_tiles(const ir::Program& core, const TemporalShape& shape, const Extent& extent) {
    for (int axis = 0; axis < core.rank(); ++axis) {
        const auto at = static_cast<std::size_t>(axis);
        if (extent[at] < shape.least_extent[axis])
            return "a grid of " + std::to_string(extent[at]) + " cells along " + core.axes[at].name +
                   " is smaller than the tiles";
    }
    return "";
}

// Completes schedules of which the pipeline, a thread's cells and the number of warps are given.
class Settler {
public:
    Settler(const ir::Program& program, const Target& target, const Extent& extent, const TemporalPins& pins,
            const std::vector<std::string>& watched)
        : target_(target), extent_(extent), pins_(pins) {
        TemporalCore found = temporal_core(program, watched);
        unwatched_ = why_unwatched(found);
        refused_ = std::move(found.refused);
        iterations_ = found.iterations;
        core = std::move(found.program);
        reductions_ = std::move(found.reductions);
    }

    // For one of the program's passes.
    Settler(const Settler& whole, const ir::Program& pass, const TemporalPins& pins)
        : core(pass), target_(whole.target_), extent_(whole.extent_), pins_(pins) {}

    // Why the program, or the run, cannot do several steps at once; else empty.
    const std::string& refused() const { return refused_; }
    // Of a program that repeats statements: the repeat whose iterations are the steps.
    const std::optional<Iterations>& iterations() const { return iterations_; }
    const std::string& unwatched() const { return unwatched_; }

    struct Settled {
        TemporalSchedule schedule;
        TemporalShape shape;
        double seconds = 0;  // of a cell and step
    };

    // The other settings get their usual values. None: the schedule cannot be built, and `why` says why.
    std::optional<Settled> settle(const Pipeline& pipeline, const std::array<int, 2>& cells, int warps,
                                  double register_room, std::string& why) const {
        Settled settled;
        TemporalSchedule& schedule = settled.schedule;
        schedule.steps = pipeline.steps;
        schedule.reductions = reductions_;
        schedule.cells = pins_.cells.value_or(cells);
        schedule.warps = pins_.warps.value_or(warps);
        schedule.ahead = pins_.ahead.value_or(temporal_model::kUsualAhead);
        schedule.unroll = pins_.unroll.value_or(usual_unroll(core, pipeline, schedule));
        auto shaped = temporal_shape(core, pipeline, schedule, target_);
        // Where the rings take too much shared memory, fewer planes are in flight.
        while (are_rings_large(shaped) && !pins_.ahead && schedule.ahead > temporal_model::kLeastAhead) {
            --schedule.ahead;
            shaped = temporal_shape(core, pipeline, schedule, target_);
        }
        if (auto* refused = std::get_if<std::string>(&shaped)) {
            why = std::move(*refused);
            return std::nullopt;
        }
        settled.shape = std::get<TemporalShape>(shaped);
        schedule.min_blocks =
            pins_.min_blocks.value_or(std::min(blocks_in_shared(target_, settled.shape, schedule.warps),
                                               blocks_in_registers(target_, settled.shape, schedule.warps)));
        // Where an estimate beyond what a thread can have is trusted, the kernel gets by with that.
        if (settled.shape.registers > target_.max_registers_per_thread && squeezes(pipeline) &&
            !pins_.min_blocks)
            schedule.min_blocks =
                std::max(schedule.min_blocks,
                         target_.registers_per_sm / (32 * schedule.warps * target_.max_registers_per_thread));
        why = unfit(pipeline, settled.shape, schedule, register_room);
        if (!why.empty() && schedule.unroll > 1 &&
            !pins_.unroll) {  // without unrolling a thread needs fewer registers
            schedule.unroll = 1;
            settled.shape = std::get<TemporalShape>(temporal_shape(core, pipeline, schedule, target_));
            why = unfit(pipeline, settled.shape, schedule, register_room);
        }
        if (!why.empty()) return std::nullopt;
        // In three dimensions the model underrates the cost of more and shorter traversals.
        const double clearly = pipeline.rank == 3 ? temporal_model::kClearGain : 1;
        for (const int blocks : blocks_of(pipeline, settled.shape, schedule)) {
            TemporalSchedule shared = schedule;
            shared.blocks = blocks;
            const double seconds = seconds_of(pipeline, settled.shape, shared);
            if (settled.seconds > 0 && seconds >= clearly * settled.seconds) continue;
            schedule.blocks = blocks;
            settled.seconds = seconds;
        }
        return settled;
    }

    static bool squeezes(const Pipeline& pipeline) {
        return count_lets(pipeline) > temporal_model::kMostFieldsHeld;
    }

    // Whether they do not fit, or leave hardly any memory to the first-level cache.
    bool are_rings_large(const std::variant<TemporalShape, std::string>& shaped) const {
        const auto* const shape = std::get_if<TemporalShape>(&shaped);
        if (shape == nullptr) return true;
        return core.rank() == 3 &&
               static_cast<double>(shape->shared_bytes) >
                   temporal_model::kSharedBesideCache * static_cast<double>(target_.max_shared_bytes);
    }

    // Why the schedule cannot be built, or spills; else empty.
    std::string unfit(const Pipeline& pipeline, const TemporalShape& shape, const TemporalSchedule& schedule,
                      double register_room) const {
        const int limit = most_registers(target_, schedule);
        if (limit < target_.max_registers_per_thread || squeezes(pipeline))
            register_room = std::max(register_room, temporal_model::kSqueezed);
        if (shape.registers > register_room * limit && !pins_.cells)
            return counted(shape.registers, "register") + " a thread are more than the " +
                   std::to_string(limit) + " that there are";
        return smaller_than_tiles(core, shape, extent_);
    }

    std::vector<int> blocks_of(const Pipeline& pipeline, const TemporalShape& shape,
                               const TemporalSchedule& schedule) const {
        if (pins_.blocks) return {*pins_.blocks};
        return usual_blocks(pipeline, shape, schedule, target_, extent_);
    }

    double seconds_of(const Pipeline& pipeline, const TemporalShape& shape,
                      const TemporalSchedule& schedule) const {
        return temporal_seconds(core, pipeline, shape, schedule, target_, extent_);
    }

    ir::Program core;

private:
    const Target& target_;
    const Extent& extent_;
    const TemporalPins& pins_;
    std::vector<std::string> reductions_;
    std::string refused_, unwatched_;
    std::optional<Iterations> iterations_;
};

// Where they are iterations, few are left to be done one by one.
bool may_be(int steps, const TemporalPins& pins, const StepCounts& counts,
            const std::optional<Iterations>& iterations) {
    if (iterations && steps > iterations->most()) return false;
    if (pins.steps) return true;
    if (iterations) return iterations->most() % steps <= iterations->most() / 8;
    return !counts || counts(steps);
}

class TemporalChooser {
public:
    TemporalChooser(const ir::Program& program, const Target& target, const Extent& extent,
                    const TemporalPins& pins, const std::vector<std::string>& watched,
                    const StepCounts& counts)
        : settler_(program, target, extent, pins, watched), program_(program), pins_(pins), counts_(counts) {}

    // Why a run that watches reductions is faster by single steps; else empty.
    const std::string& unwatched() const { return settler_.unwatched(); }

    TemporalChoice run() {
        if (!settler_.refused().empty()) return {std::nullopt, settler_.refused(), 0};
        const std::optional<Iterations>& iterations = settler_.iterations();
        if (iterations && pins_.steps && *pins_.steps > iterations->most())
            return {
                std::nullopt,
                "the repeat has " + counted(iterations->most(), "iteration") + " that can be done together",
                0};
        const int passes = pins_.passes.value_or(1);
        if (passes > 1 && (iterations || pins_.steps.value_or(1) != 1))
            return {std::nullopt, "several passes are of one step", 0};
        if (passes == 1) try_steps();
        const bool is_free =
            pins_ == TemporalPins{} && !iterations && may_be(1, pins_, counts_, settler_.iterations());
        const int most = is_free ? temporal_model::kMostPasses : passes;
        for (int more = std::max(passes, 2); more <= most; ++more)
            try_passes(more);
        if (!best_.schedule) best_.reason = why_not_;
        best_.iterations = iterations;
        return best_;
    }

private:
    void try_steps() {
        const int first = pins_.steps.value_or(1), last = pins_.steps.value_or(temporal_model::kMostSteps);
        for (int steps = first; steps <= last; ++steps) {
            if (!may_be(steps, pins_, counts_, settler_.iterations())) continue;
            const auto formed = form_pipeline(settler_.core, steps);
            if (const auto* why = std::get_if<std::string>(&formed)) {
                why_not_ = *why;
                break;
            }
            // More steps never need less.
            if (!try_shapes(std::get<Pipeline>(formed))) break;
        }
    }

    void note(const std::string& why) {
        if (why_not_.empty()) why_not_ = why;
    }

    // Calls visit(cells, warps) for the usual ones.
    template <class Visit>
    void for_each_shape(Visit&& visit) const {
        const bool has_rows = settler_.core.rank() == 3;
        for (const int columns : {4, 2, 1})
            for (const int rows : has_rows ? std::vector<int>{4, 2} : std::vector<int>{1})
                for (const int warps : has_rows ? std::vector<int>{8, 12, 16} : std::vector<int>{4, 2})
                    visit(std::array<int, 2>{columns, rows}, warps);
    }

    // Whether any shape can be built.
    bool try_shapes(const Pipeline& pipeline) {
        bool any = false;
        for_each_shape(
            [&](std::array<int, 2> cells, int warps) { any = try_shape(pipeline, cells, warps) || any; });
        return any;
    }

    void try_passes(int count) {
        const auto made = temporal_passes(program_, settler_.core, count);
        const auto* const passes = std::get_if<std::vector<TemporalPass>>(&made);
        if (passes == nullptr) return note(std::get<std::string>(made));
        for_each_shape([&](std::array<int, 2> cells, int warps) { try_shape_of(*passes, cells, warps); });
    }

    // All passes have the settings that each can have.
    void try_shape_of(const std::vector<TemporalPass>& passes, std::array<int, 2> cells, int warps) {
        TemporalPins joint = pins_;
        for (const bool is_last : {false, true}) {
            TemporalSchedule schedule;
            double seconds = 0, more = 0;
            int registers = 0;
            for (const TemporalPass& pass : passes) {
                const auto pipeline = std::get<Pipeline>(form_pipeline(pass.program, 1));
                const Settler settler(settler_, pass.program, joint);
                std::string why;
                const auto settled = settler.settle(pipeline, cells, warps, temporal_model::kPassRoom, why);
                if (!settled) return note(why);
                const TemporalSchedule& one = settled->schedule;
                if (&pass == &passes.front()) schedule = one;
                schedule.ahead = std::min(schedule.ahead, one.ahead);
                schedule.unroll = std::min(schedule.unroll, one.unroll);
                schedule.min_blocks = std::min(schedule.min_blocks, one.min_blocks);
                seconds += settled->seconds;
                more = std::max(more, settled->shape.redundancy() - 1);
                registers = std::max(registers, settled->shape.registers);
            }
            joint.ahead = schedule.ahead;
            joint.unroll = schedule.unroll;
            joint.min_blocks = schedule.min_blocks;
            joint.blocks = schedule.blocks;
            if (!is_last || (best_.schedule && seconds >= best_.seconds_per_cell)) continue;
            schedule.passes = static_cast<int>(passes.size());
            best_.schedule = schedule;
            best_.seconds_per_cell = seconds;
            best_.reason = "1 step in " + std::to_string(passes.size()) + " passes over memory, computing " +
                           percent(more) + " more cells, in about " + counted(registers, "register");
        }
    }

    bool try_shape(const Pipeline& pipeline, std::array<int, 2> cells, int warps) {
        std::string why;
        const auto settled = settler_.settle(pipeline, cells, warps, 1, why);
        if (!settled) note(why);
        if (!settled) return false;
        // Smaller blocks are for programs of which an SM holds no two larger ones.
        const bool is_small = pipeline.rank == 2 && warps < kUsualWarpsOfRows && !pins_.warps;
        if (is_small && best_.schedule && best_.schedule->min_blocks > 1) return true;
        if (best_.schedule && settled->seconds >= best_.seconds_per_cell) return true;
        best_.schedule = settled->schedule;
        best_.seconds_per_cell = settled->seconds;
        best_.reason = counted(settled->schedule.steps, settler_.iterations() ? "iteration" : "step") +
                       " in one pass over memory, computing " + percent(settled->shape.redundancy() - 1) +
                       " more cells, in about " + std::to_string(settled->shape.registers) + " registers" +
                       invariants(pipeline);
        return true;
    }

    // What is computed once for all steps.
    std::string invariants(const Pipeline& pipeline) const {
        std::string names;
        for (const Pipeline::Queue& queue : pipeline.queues)
            if (queue.invariant)
                names += (names.empty() ? "; what all steps compute of " : " and ") +
                         ("`" + settler_.core[queue.field].name + "`");
        return names.empty() ? "" : names + " alike is computed once";
    }

    static std::string percent(double share) {
        return std::to_string(static_cast<int>(std::lround(100 * share))) + " %";
    }

    const Settler settler_;
    const ir::Program& program_;
    const TemporalPins& pins_;
    const StepCounts& counts_;
    TemporalChoice best_;
    std::string why_not_;
};

// Lists shapes with the usual values of the other settings, then varies those settings of the best shapes.
class TemporalLister {
public:
    TemporalLister(const ir::Program& program, const Target& target, const Extent& extent,
                   const TemporalPins& pins, const std::vector<std::string>& watched,
                   const StepCounts& counts)
        : settler_(program, target, extent, pins, watched), target_(target), pins_(pins), counts_(counts) {}

    std::vector<Candidate> run() {
        if (!settler_.refused().empty() || pins_.passes.value_or(1) > 1) return {};
        const int first = pins_.steps.value_or(1), last = pins_.steps.value_or(temporal_model::kMostSteps);
        for (int steps = first; steps <= last; ++steps) {
            if (!may_be(steps, pins_, counts_, settler_.iterations())) continue;
            auto formed = form_pipeline(settler_.core, steps);
            if (std::holds_alternative<std::string>(formed)) break;
            pipelines_.push_back(std::move(std::get<Pipeline>(formed)));
        }
        list_shapes();
        for (const Usual& usual : shapes_)
            vary(usual);
        sort_by_rank(found_);
        return std::move(found_);
    }

private:
    struct Usual {
        const Pipeline* pipeline;
        Settler::Settled settled;
    };

    template <class T>
    static std::vector<T> values(const std::optional<T>& pinned, std::vector<T> others) {
        return pinned ? std::vector<T>{*pinned} : others;
    }

    void list_shapes() {
        constexpr std::size_t kMostShapes = 80;  // whose other settings are varied
        std::vector<std::array<int, 2>> boxes;
        for (const int columns : {4, 2, 1}) {
            for (const int rows : {1, 2, 4, 8})
                if (rows == 1 || settler_.core.rank() == 3) boxes.push_back({columns, rows});
        }
        std::string why;
        for (const Pipeline& pipeline : pipelines_) {
            for (const std::array<int, 2>& cells : values(pins_.cells, boxes)) {
                for (const int warps : values(pins_.warps, {2, 4, 8, 12, 16}))
                    if (auto settled =
                            settler_.settle(pipeline, cells, warps, temporal_model::kTunerRoom, why))
                        shapes_.push_back({&pipeline, *std::move(settled)});
            }
        }
        std::stable_sort(shapes_.begin(), shapes_.end(), [](const Usual& a, const Usual& b) {
            return a.settled.seconds < b.settled.seconds;
        });
        if (shapes_.size() > kMostShapes) shapes_.resize(kMostShapes);
    }

    // The model is imprecise in these settings, so their usual values rank first.
    void vary(const Usual& usual) {
        const auto& [chosen, shape, best] = usual.settled;
        const int least = chosen.min_blocks;
        std::set<int> counts{least, least + 1, std::max(1, least - 1)};
        if (pins_.min_blocks) counts = {*pins_.min_blocks};
        std::set<int> unrolls{1, 2, 3, chosen.unroll};
        if (pins_.unroll) unrolls = {*pins_.unroll};
        for (const int ahead : values(pins_.ahead, {2, 3, temporal_model::kUsualAhead, 6})) {
            for (const int min_blocks : counts) {
                TemporalSchedule schedule = chosen;
                schedule.ahead = ahead;
                schedule.min_blocks = min_blocks;
                const std::optional<TemporalShape> varied = shape_of(*usual.pipeline, schedule);
                if (!varied) continue;
                for (const int blocks : settler_.blocks_of(*usual.pipeline, *varied, schedule)) {
                    schedule.blocks = blocks;
                    for (const int unroll : unrolls) {
                        schedule.unroll = unroll;
                        const double seconds = settler_.seconds_of(*usual.pipeline, *varied, schedule);
                        const int unusual =
                            (ahead != chosen.ahead) + (min_blocks != least) + (unroll != chosen.unroll);
                        found_.push_back({Grouping(schedule),
                                          seconds * std::pow(temporal_model::kUnusual, unusual), seconds});
                    }
                }
            }
        }
    }

    std::optional<TemporalShape> shape_of(const Pipeline& pipeline, const TemporalSchedule& schedule) const {
        const auto shaped = temporal_shape(settler_.core, pipeline, schedule, target_);
        if (std::holds_alternative<std::string>(shaped)) return std::nullopt;
        const auto& shape = std::get<TemporalShape>(shaped);
        if (!settler_.unfit(pipeline, shape, schedule, temporal_model::kTunerRoom).empty())
            return std::nullopt;
        if (schedule.min_blocks > blocks_in_shared(target_, shape, schedule.warps) && !pins_.min_blocks)
            return std::nullopt;
        return shape;
    }

    const Settler settler_;
    const Target& target_;
    const TemporalPins& pins_;
    const StepCounts& counts_;
    std::vector<Pipeline> pipelines_;  // by steps
    std::vector<Usual> shapes_;
    std::vector<Candidate> found_;
};

}  // namespace

TemporalChoice choose_temporal(const ir::Program& program, const Target& target, const Extent& extent,
                               const std::optional<TemporalPins>& pins,
                               const std::vector<std::string>& watched, const StepCounts& counts) {
    const TemporalPins pinned = pins.value_or(TemporalPins{});
    TemporalChooser chooser(program, target, extent, pinned, watched, counts);
    if (!pins && !chooser.unwatched().empty()) return {std::nullopt, chooser.unwatched(), 0};
    return chooser.run();
}

TemporalCandidates list_temporal_candidates(const ir::Program& program, const Target& target,
                                            const Extent& extent, const TemporalPins& pins,
                                            const std::vector<std::string>& watched, const StepCounts& counts,
                                            int most) {
    const TemporalChoice chosen = TemporalChooser(program, target, extent, pins, watched, counts).run();
    std::vector<Candidate> others = TemporalLister(program, target, extent, pins, watched, counts).run();
    TemporalCandidates candidates;
    if (chosen.schedule) {
        double rank = chosen.seconds_per_cell;
        if (!others.empty()) rank = std::min(rank, others.front().rank);
        candidates.found.push_back({Grouping(*chosen.schedule), rank, chosen.seconds_per_cell});
    }
    for (Candidate& each : others) {
        if (std::ssize(candidates.found) > most) break;
        const bool is_first = chosen.schedule && *each.grouping() == Grouping(*chosen.schedule);
        if (!is_first) candidates.found.push_back(std::move(each));
    }
    if (candidates.found.empty()) candidates.why_none = chosen.reason;
    return candidates;
}

}  // namespace halo::schedule
