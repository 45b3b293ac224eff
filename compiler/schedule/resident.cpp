#include "compiler/schedule/resident.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/analysis.h"
#include "compiler/schedule/footprint.h"
#include "compiler/schedule/issue_model.h"
#include "compiler/schedule/resident_model.h"
#include "compiler/schedule/temporal.h"
#include "compiler/support/error.h"

namespace halo::schedule {

namespace {

constexpr int kMostRows = 32;             // of a thread: a mask of 32 bits says which are sent
constexpr int kAlignment = 16;            // bytes of a vector
constexpr std::int64_t kMostGhosts = 48;  // of a field for each thread of the block

// A launch has the host's numbers for its first step alone.
bool changes_with_step(const ir::Program& core) {
    return std::ranges::any_of(core.statements, [&](const ir::Statement& statement) {
        return std::ranges::any_of(ir::roots_of(statement),
                                   [&](ir::ExprId root) { return ir::changes_with_step(core, root); });
    });
}

ResidentBox make_box(const ir::Program& core, const Pipeline& pipeline, const Pipeline::Queue& queue,
                     const ResidentSchedule& schedule) {
    ResidentBox box;
    box.field = queue.field;
    box.role = queue.role;
    for (const Pipeline::Stage& stage : pipeline.stages) {
        for (const Pipeline::Use& use : stage.uses) {
            if (use.field != queue.field) continue;
            for (const ir::Offset& offset : use.offsets) {
                int axes = 0;
                for (int axis = 0; axis < core.rank(); ++axis) {
                    int& reach = box.reach[static_cast<std::size_t>(axis)];
                    reach = std::max(reach, std::abs(offset[axis]));
                    axes += offset[axis] != 0;
                }
                box.has_corners = box.has_corners || axes > 1;
                if (axes > 0) box.back = std::max(box.back, -use.time);
            }
        }
    }
    // Levels of a state share slots in rotation: those that are read, and the one that is written.
    box.slots = queue.role == ir::Role::state ? box.back + 2 : 1;
    if (!box.is_read_around() && queue.role != ir::Role::input) box.slots = 0;
    const int vector = schedule.cells[0];
    box.left = (box.reach[0] + vector - 1) / vector * vector;
    box.cells = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (static_cast<int>(axis) < core.rank()) box.own[axis] = schedule.tile(static_cast<int>(axis));
        box.padded[axis] = box.own[axis] + 2 * (axis == 0 ? box.left : box.reach[axis]);
        box.cells *= box.padded[axis];
    }
    for (int axis = 0; axis < core.rank() && queue.role != ir::Role::input; ++axis) {
        const auto index = static_cast<std::size_t>(axis);
        const bool images_of_cells =
            core[queue.field].image(axis, 0).shows_cell() || core[queue.field].image(axis, 1).shows_cell();
        box.exchanged_along[index] = box.reach[index] > 0 && (!schedule.is_alone[index] || images_of_cells);
        box.is_exchanged = box.is_exchanged || box.exchanged_along[index];
    }
    return box;
}

std::string refused_tile(const ir::Program& core, const ResidentSchedule& schedule, const Target& target) {
    if (schedule.all_threads() > target.max_threads_per_block)
        return std::to_string(schedule.all_threads()) + " threads are more than a block has";
    for (int axis = 0; axis < 3; ++axis) {
        const auto index = static_cast<std::size_t>(axis);
        if (schedule.threads[index] > target.max_threads[axis])
            return std::to_string(schedule.threads[index]) +
                   " threads along an axis are more than a block has";
        if (axis >= core.rank() && schedule.tile(axis) != 1) return "the program has fewer axes";
    }
    if (schedule.cells[0] != 1 && schedule.cells[0] != 2 && schedule.cells[0] != 4)
        return "a thread has 1, 2 or 4 cells along the first axis";
    if (schedule.cells[1] * schedule.cells[2] > kMostRows)
        return "a thread has more than " + std::to_string(kMostRows) + " rows of cells";
    if (schedule.cells[0] * schedule.cells[1] * schedule.cells[2] > resident_model::kMostCells)
        return "a thread has more than " + std::to_string(resident_model::kMostCells) + " cells";
    return "";
}

}  // namespace

// Whether the next level of a state can take the slot of its oldest: no later stage reads that, its
// neighbours or, where it is in no registers, any cell.
static bool can_be_in_place(const Pipeline& pipeline, const ResidentBox& box, Keep keep) {
    if (box.role != ir::Role::state || box.slots == 0) return false;
    if (keep == Keep::shared && box.back > 0) return false;
    const auto is_lost = [&](const ir::Offset& offset) {
        return keep == Keep::shared || offset != ir::Offset{};
    };
    for (auto stage = static_cast<std::size_t>(pipeline.find(box.field)->writer) + 1;
         stage < pipeline.stages.size(); ++stage)
        for (const Pipeline::Use& use : pipeline.stages[stage].uses)
            if (use.field == box.field && use.time == -box.back && std::ranges::any_of(use.offsets, is_lost))
                return false;
    return true;
}

// Has levels share slots as the schedule says; or returns why they cannot.
static std::string share_slots(const Pipeline& pipeline, const ResidentSchedule& schedule,
                               std::vector<ResidentBox>& boxes) {
    if (schedule.keep == Keep::registers) return "";
    if (schedule.keep == Keep::shared && (schedule.cells[2] == 1 || schedule.threads[2] > 1))
        return "`keep=shared` needs a block with one thread along the third axis, which has several planes";
    bool is_any = false;
    for (ResidentBox& box : boxes) {
        if (!can_be_in_place(pipeline, box, schedule.keep)) continue;
        box.keep = schedule.keep;
        --box.slots;
        is_any = true;
    }
    return is_any ? ""
                  : "`keep=" + std::string(keep_word(schedule.keep)) +
                        "` needs a state whose neighbours are read, but not after its next level is computed";
}

// Gives each box its place in shared memory.
static void place_boxes(const ir::Program& core, ResidentShape& shape) {
    shape.shared_bytes = 0;
    for (ResidentBox& box : shape.boxes) {
        box.offset = (shape.shared_bytes + kAlignment - 1) / kAlignment * kAlignment;
        shape.shared_bytes = box.offset + box.cells * box.slots * size_of(core[box.field].type);
    }
}

std::int64_t ResidentBox::around() const {
    std::int64_t all = 1, count = 0;
    for (std::size_t axis = 0; axis < 3; ++axis)
        all *= own[axis] + 2 * reach[axis];
    if (has_corners) return all - std::int64_t{own[0]} * own[1] * own[2];
    for (std::size_t axis = 0; axis < 3; ++axis)
        count += 2 * std::int64_t{reach[axis]} * own[(axis + 1) % 3] * own[(axis + 2) % 3];
    return count;
}

std::int64_t ResidentBox::exchanged_past(int axis) const {
    const auto at = static_cast<std::size_t>(axis);
    if (!exchanged_along[at]) return 0;
    return 2 * std::int64_t{reach[at]} * own[(at + 1) % 3] * own[(at + 2) % 3];
}

std::int64_t ResidentBox::exchanged() const {
    return has_corners ? around() : exchanged_past(0) + exchanged_past(1) + exchanged_past(2);
}

int message_cells(int of_thread) {
    return of_thread % 4 == 0 ? 4 : of_thread % 2 == 0 ? 2 : 1;
}

const ResidentBox& ResidentShape::box(ir::FieldId field) const {
    const auto found = std::ranges::find(boxes, field, &ResidentBox::field);
    if (found == boxes.end()) throw InternalError("a resident kernel keeps no such field");
    return *found;
}

std::int64_t blocks_of(const ResidentSchedule& schedule, const Extent& extent) {
    std::int64_t count = 1;
    for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t tile = schedule.tile(axis);
        count *= (extent[static_cast<std::size_t>(axis)] + tile - 1) / tile;
    }
    return count;
}

std::string resident_refusal(const ir::Program& core, const Pipeline& pipeline) {
    if (pipeline.is_packed()) return not_as_computed(core[pipeline.queues.front().field]);
    if (changes_with_step(core)) return "a value depends on the number of the step";
    for (const Pipeline::Queue& queue : pipeline.queues) {
        if (queue.role == ir::Role::input && core[queue.field].history > 0)
            return "`" + core[queue.field].name + "` has a past, and no statement writes it";
        if (ir::has_formula(core[queue.field]))
            return "a formula says what lies past a face of `" + core[queue.field].name + "`";
    }
    return "";
}

std::variant<ResidentShape, std::string> resident_shape(const ir::Program& core, const Pipeline& pipeline,
                                                        const ResidentSchedule& schedule,
                                                        const Target& target) {
    ResidentShape shape;
    if (std::string why = refused_tile(core, schedule, target); !why.empty()) return why;
    for (const Pipeline::Queue& queue : pipeline.queues) {
        ResidentBox box = make_box(core, pipeline, queue, schedule);
        const std::string& name = core[queue.field].name;
        for (int axis = 0; axis < core.rank(); ++axis) {
            const int reach = box.reach[static_cast<std::size_t>(axis)];
            // A halo image copies a cell of the domain, a period or a reflection away.
            std::int64_t& least = shape.least_extent[static_cast<std::size_t>(axis)];
            least = std::max(least, std::int64_t{reach} + 1);
            if (reach > schedule.tile(axis))
                return "`" + name + "` is read " + std::to_string(reach) + " cells away along " +
                       core.axes[static_cast<std::size_t>(axis)].name + ", and a block has " +
                       std::to_string(schedule.tile(axis));
        }
        if (box.around() > kMostGhosts * schedule.all_threads())
            return "the cells around a block that `" + name + "` needs are too many for its threads";
        shape.boxes.push_back(box);
    }
    if (std::string why = share_slots(pipeline, schedule, shape.boxes); !why.empty()) return why;
    place_boxes(core, shape);
    if (shape.shared_bytes > target.max_shared_bytes)
        return std::to_string(shape.shared_bytes) + " bytes of shared memory are more than the " +
               std::to_string(target.max_shared_bytes) + " that a block has";
    return shape;
}

// Packets that a thread polls, at most: those of columns past the faces of the first axis, or of rows.
static int packets_along(const ir::Program& core, const ResidentBox& box, const ResidentSchedule& schedule,
                         bool of_columns) {
    const std::int64_t columns = box.exchanged_past(0);
    const int cells = message_cells(schedule.cells[of_columns ? 1 : 0]);
    const std::int64_t messages = (of_columns ? columns : box.exchanged() - columns) / cells;
    const int passes = static_cast<int>((messages + schedule.all_threads() - 1) / schedule.all_threads());
    return passes * (size_of(core[box.field].type) == 8 ? cells : (cells + 1) / 2);
}

int resident_registers(const ir::Program& core, const ResidentShape& shape,
                       const ResidentSchedule& schedule) {
    const auto& cells = schedule.cells;
    double registers = resident_model::kPlaceRegisters;
    double polled = 0;  // words of all packets of a field that a thread polls, which are loaded at once
    // Compilers keep all levels apart where there is room, and otherwise have the cells of a new level take
    // the registers of an old one's, a plane behind. The other words of planes are those beside them.
    double apart = 0, tight = 0, planes = 0;
    for (const ResidentBox& box : shape.boxes) {
        const int words = size_of(core[box.field].type) / 4;
        const int levels = box.role == ir::Role::state ? core[box.field].history + 2 : 1;
        const int least = std::max(1, levels - 1) - (box.keep == Keep::shared ? 1 : 0);
        const double of_plane = words * cells[0] * cells[1];
        apart += resident_model::kCellRegisters * levels * of_plane * cells[2];
        tight += least * of_plane * cells[2];
        if (box.exchanged_along[0]) tight += resident_model::kColumnRegisters;
        planes += of_plane * (box.keep == Keep::shared ? 2 * box.reach[2] + 2 : 1);
        double window = words, nearest = words;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const int most = std::min(cells[axis], resident_model::kMostOfWindow);
            window *= most + 2 * box.reach[axis];
            nearest *= most + 2 * std::min(box.reach[axis], 1);
        }
        registers += resident_model::kFarRegisters * (window - nearest);
        const int packets =
            packets_along(core, box, schedule, true) + packets_along(core, box, schedule, false);
        registers += resident_model::kPacketRegisters * packets;
        polled = std::max(
            polled, packets * (words == 2 ? resident_model::kWidePacketWords : resident_model::kPacketWords));
    }
    if (schedule.keep == Keep::shared)
        registers += tight + std::max(planes, polled);
    else
        registers += std::min(apart, tight + std::max(planes + resident_model::kTightRegisters,
                                                      polled + resident_model::kPollRegisters));
    return static_cast<int>(registers);
}

int spilled_registers(int registers, const ResidentSchedule& schedule, const Target& target) {
    constexpr int kSchedulers = 4, kGranule = 8;  // registers are allocated in multiples of the latter
    const int all = target.registers_per_sm / (kSchedulers * schedule.warps_of_scheduler() * target.warp);
    return std::max(0, registers - std::min(target.max_registers_per_thread, all / kGranule * kGranule));
}

double spill_seconds(int spilled, const ResidentSchedule& schedule) {
    return resident_model::kSpillCycles * schedule.warps_of_scheduler() * spilled / resident_model::kClock;
}

std::vector<ResidentStage> resident_stages(const ir::Program& core, const Pipeline& pipeline) {
    std::vector<ResidentStage> list;
    for (const Pipeline::Stage& stage : pipeline.stages) {
        ResidentStage& made = list.emplace_back();
        made.arithmetic = issue_slots(footprint(core, stage.stage).operations);
        made.is_wide = std::ranges::any_of(
            stage.uses, [&](const Pipeline::Use& use) { return core[use.field].type == ir::Scalar::f64; });
    }
    return list;
}

// Instructions of a cell besides its arithmetic.
static double overhead_of(const ResidentSchedule& schedule, int rank, bool is_wide) {
    const auto& of_thread = schedule.cells;
    double overhead = resident_model::kCellInstructions + resident_model::kRowInstructions / of_thread[1];
    if (rank == 3) overhead += resident_model::kPlaneInstructions / of_thread[2];
    if (schedule.keep == Keep::shared) overhead += resident_model::kSharedInstructions;
    if (32 % schedule.threads[0] != 0) overhead += resident_model::kSplitRowInstructions;
    if (schedule.keep == Keep::shared && is_wide && of_thread[0] > 1)
        return overhead * (of_thread[0] == 4 ? resident_model::kLongVectors : resident_model::kVectorsOfFour);
    return overhead * (of_thread[0] == 4   ? resident_model::kVectorsOfFour
                       : of_thread[0] == 2 ? resident_model::kVectorsOfTwo
                                           : resident_model::kSingleCells);
}

// Seconds of a step for the exchange of a field.
static double exchange_seconds(const ir::Program& core, const ResidentBox& box,
                               const ResidentSchedule& schedule) {
    const int words = size_of(core[box.field].type) / 4;
    const double bytes_of_cell = words == 2 ? resident_model::kWidePacketBytes
                                 : schedule.cells[0] == 4 && !box.has_corners
                                     ? resident_model::kVectorPacketBytes
                                     : resident_model::kPairPacketBytes;
    const auto rows = static_cast<double>(box.exchanged_past(1) + box.exchanged_past(2));
    const auto columns = static_cast<double>(box.exchanged_past(0));
    return resident_model::kPacketSeconds + rows * bytes_of_cell / resident_model::kSentBytes +
           columns * words * resident_model::kSideCellSeconds;
}

double resident_seconds(const ir::Program& core, const std::vector<ResidentStage>& stages,
                        const ResidentShape& shape, const ResidentSchedule& schedule) {
    constexpr int kWarp = 32;
    const auto& of_thread = schedule.cells;
    // The time is that of the busiest of an SM's schedulers. A warp of few threads takes as long as others.
    const double cells = static_cast<double>(schedule.warps_of_scheduler()) * kWarp * of_thread[0] *
                         of_thread[1] * of_thread[2];
    const double latency = std::sqrt(std::max(1.0, resident_model::kWarpsToHideLatency / schedule.warps()));
    double cut = 1, cycles = 0, seconds = 0;
    for (int axis = 0; axis < core.rank(); ++axis)
        if (!schedule.is_whole[static_cast<std::size_t>(axis)]) cut += resident_model::kCutBox;
    const int barriers = schedule.keep == Keep::shared     ? of_thread[2] + 1
                         : schedule.keep == Keep::in_place ? 2
                                                           : 1;
    for (const ResidentStage& stage : stages) {
        const double instructions = stage.arithmetic + overhead_of(schedule, core.rank(), stage.is_wide);
        cycles += resident_model::kBarrierCycles * barriers +
                  cut * latency * (stage.is_wide ? resident_model::kWideArithmetic : 1) * cells *
                      instructions / kWarp;
    }
    for (const ResidentBox& box : shape.boxes)
        if (box.is_exchanged) seconds += exchange_seconds(core, box, schedule);
    return seconds + cycles / resident_model::kClock;
}

}  // namespace halo::schedule
