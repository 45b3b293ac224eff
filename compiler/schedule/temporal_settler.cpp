#include "compiler/schedule/temporal_settler.h"

#include <algorithm>

#include "compiler/schedule/temporal_model.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

namespace {

// As many iterations as a queue has slots rotate its registers without moves. The unrolled loop may exceed
// the instruction cache.
int usual_unroll(const ir::Program& core, const Pipeline& pipeline, TemporalSchedule schedule) {
    schedule.unroll = 2;
    int slots = 1;
    double widest = 1;  // words: an instruction on two counts as two
    for (const Pipeline::Queue& queue : pipeline.queues) {
        if (queue.role != ir::Role::input) slots = std::max({slots, queue.slots, queue.windows});
        for (const lower::RowSum& sum : queue.row_sums)
            slots = std::max(slots, sum.high - sum.low + 1);
        widest = std::max(widest, size_of(core[queue.field].storage) / 4.0);
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
    // A single wave may leave a few SMs idle: all tiles have equal parts then.
    if (tiles < at_once && at_once % tiles != 0) counts.push_back(static_cast<int>(at_once / tiles * tiles));
    for (int parts = 1; parts <= temporal_model::kMostParts; ++parts)
        if (tiles * parts > at_once && tiles * parts < temporal_model::kMostBlocksOfWave * at_once)
            counts.push_back(static_cast<int>(tiles * parts));
    return counts;
}

// Blocks that fit on an SM by registers, which are estimated.
int blocks_in_registers(const Target& target, const TemporalShape& shape, int warps) {
    const int registers =
        std::max(shape.registers + temporal_model::kLimitRegisters, temporal_model::kLeastRegisters);
    return std::max(1, target.registers_per_sm / (32 * warps * registers));
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

}  // namespace

int blocks_in_shared(const Target& target, const TemporalShape& shape, int warps) {
    const auto by_shared =
        static_cast<int>(target.shared_bytes_per_sm / (shape.shared_bytes + kSystemSharedBytes));
    return std::clamp(std::min(by_shared, target.max_threads_per_sm / (32 * warps)), 1,
                      target.max_blocks_per_sm);
}

TemporalSettler::TemporalSettler(const ir::Program& program, const Target& target, const Extent& extent,
                                 const TemporalPins& pins, const std::vector<std::string>& watched)
    : target_(target), extent_(extent), pins_(pins) {
    TemporalCore found = temporal_core(program, watched);
    unwatched_ = why_unwatched(found);
    refused_ = std::move(found.refused);
    iterations_ = found.iterations;
    core = std::move(found.program);
    reductions_ = std::move(found.reductions);
}

std::optional<TemporalSettler::Settled> TemporalSettler::settle(const Pipeline& pipeline,
                                                                const std::array<int, 2>& cells, int warps,
                                                                double register_room,
                                                                std::string& why) const {
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
    if (settled.shape.registers > target_.max_registers_per_thread && squeezes(pipeline) && !pins_.min_blocks)
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

bool TemporalSettler::squeezes(const Pipeline& pipeline) {
    return count_lets(pipeline) > temporal_model::kMostFieldsHeld;
}

bool TemporalSettler::are_rings_large(const std::variant<TemporalShape, std::string>& shaped) const {
    const auto* const shape = std::get_if<TemporalShape>(&shaped);
    if (shape == nullptr) return true;
    return core.rank() == 3 &&
           static_cast<double>(shape->shared_bytes) >
               temporal_model::kSharedBesideCache * static_cast<double>(target_.max_shared_bytes);
}

std::string TemporalSettler::unfit(const Pipeline& pipeline, const TemporalShape& shape,
                                   const TemporalSchedule& schedule, double register_room) const {
    const int limit = most_registers(schedule, target_);
    const bool has_room = limit < target_.max_registers_per_thread || squeezes(pipeline);
    if (has_room && !pipeline.is_packed())  // whose estimates are close
        register_room = std::max(register_room, temporal_model::kSqueezed);
    if (shape.registers > register_room * limit && !counts_on_squeezing(shape, schedule, target_) &&
        !pins_.cells)
        return counted(shape.registers, "register") + " a thread are more than the " + std::to_string(limit) +
               " that there are";
    return smaller_than_tiles(core, shape, extent_);
}

std::vector<int> TemporalSettler::blocks_of(const Pipeline& pipeline, const TemporalShape& shape,
                                            const TemporalSchedule& schedule) const {
    if (pins_.blocks) return {*pins_.blocks};
    return usual_blocks(pipeline, shape, schedule, target_, extent_);
}

double TemporalSettler::seconds_of(const Pipeline& pipeline, const TemporalShape& shape,
                                   const TemporalSchedule& schedule) const {
    return temporal_seconds(core, pipeline, shape, schedule, target_, extent_);
}

bool may_be(int steps, const TemporalPins& pins, const StepCounts& counts,
            const std::optional<Iterations>& iterations) {
    if (iterations && steps > iterations->most()) return false;
    if (pins.steps) return true;
    if (iterations) return iterations->most() % steps <= iterations->most() / 8;
    return !counts || counts(steps);
}

}  // namespace halo::schedule
