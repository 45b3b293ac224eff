#include "compiler/schedule/temporal.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/schedule/footprint.h"

namespace halo::schedule {

namespace {

constexpr int kLanes = 32;
constexpr int kSectorBytes = 32;

int round_up(int value, int step) {
    return (value + step - 1) / step * step;
}

int bytes_of(const ir::Program& core, ir::FieldId field) {
    return size_of(core[field].type);
}

bool is_periodic(const ir::Program& core, const Pipeline& pipeline, int axis) {
    return std::ranges::any_of(pipeline.queues, [&](const Pipeline::Queue& queue) {
        const ir::Field& field = core[queue.field];
        return field.boundary[axis][0].kind == ir::BoundaryKind::periodic &&
               field.halo[axis][0] + field.halo[axis][1] > 0;
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
                if (field.boundary[axis][side].kind == ir::BoundaryKind::mirror && reach > 0 &&
                    reach >= cells)
                    return "the mirror of `" + field.name + "` along " + name + " shows cells " +
                           std::to_string(reach) + " away, and a thread has " + std::to_string(cells);
            }
        }
    }
    return "";
}

int estimate_registers(const ir::Program& core, const Pipeline& pipeline, const TemporalSchedule& schedule) {
    constexpr int kPlaces = 26;        // addresses and counters
    constexpr int kPlacesOfField = 8;  // addresses of each field
    const int cells = schedule.cells[0] * schedule.cells[1];
    int registers = kPlaces;
    for (const Pipeline::Queue& queue : pipeline.queues) {
        const int words = bytes_of(core, queue.field) / 4;
        const int levels = pipeline.levels(queue);
        const int window = (schedule.cells[0] + queue.reach[0][0] + queue.reach[0][1]) *
                           (schedule.cells[1] + queue.reach[1][0] + queue.reach[1][1]) * words;
        if (queue.keeps_windows()) {
            registers += pipeline.steps * (queue.windows - 1) * window;
            registers += levels * std::max(queue.slots - 2, 0) * cells * words;
        } else {
            registers += levels * (queue.slots - 1) * cells * words;
        }
        if (queue.fold) registers += pipeline.steps * queue.fold->values() * cells * words;
        // Of a wide window only a part is there at a time.
        const int at_once = std::min(window, (2 * cells + kPlaces) * words);
        registers += kPlacesOfField + (queue.has_window ? at_once : cells * words);
    }
    return registers;
}

}  // namespace

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
    int widest = 4;
    for (const Pipeline::Queue& queue : pipeline.queues)
        widest = std::max(widest, bytes_of(core, queue.field));
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
    const std::array<int, 2> arrival = pipeline.arrival();
    shape.first_plane = arrival[0];
    shape.ring_planes = arrival[1] + schedule.ahead - arrival[0] + 1;
    for (const Pipeline::Queue& queue : pipeline.queues) {
        const std::int64_t bytes = bytes_of(core, queue.field);
        shape.shared_bytes += bytes * queue.arriving * shape.ring_planes * shape.rows * shape.tile[0];
        if (has_rows && queue.role != ir::Role::input)
            shape.shared_bytes += bytes * pipeline.steps * 2 * schedule.warps * queue.lines() * shape.tile[0];
    }
    if (shape.shared_bytes > target.max_shared_bytes)
        return std::to_string(shape.shared_bytes) + " bytes of shared memory are more than the " +
               std::to_string(target.max_shared_bytes) + " that a block can have";
    shape.registers = estimate_registers(core, pipeline, schedule);
    shape.least_extent = {shape.tile[0], 1, 1};
    if (has_rows) shape.least_extent[1] = shape.tile[1];
    shape.least_extent[pipeline.walked()] =
        std::max(8, pipeline.lead() + pipeline.tail() + shape.ring_planes);
    return shape;
}

ir::Program state_core(const ir::Program& program) {
    ir::Program core = program;
    std::set<std::uint32_t> needed;
    for (std::size_t f = 0; f < program.fields.size(); ++f)
        if (program.fields[f].role == ir::Role::state) needed.insert(static_cast<std::uint32_t>(f));
    core.statements.clear();
    for (std::size_t index = program.statements.size(); index-- > 0;) {
        const ir::Statement& statement = program.statements[index];
        const auto* assign = std::get_if<ir::Assign>(&statement);
        const auto* inject = std::get_if<ir::Inject>(&statement);
        if (inject == nullptr && (assign == nullptr || !needed.contains(assign->target.index))) continue;
        const std::vector<bool> reached = ir::reachable_exprs(program, ir::roots_of(statement));
        for (std::size_t e = 0; e < reached.size(); ++e)
            if (const auto* access = std::get_if<ir::Access>(&program.exprs[e].node); access && reached[e])
                needed.insert(access->field.index);
        core.statements.insert(core.statements.begin(), statement);
    }
    return core;
}

double temporal_seconds(const ir::Program& core, const Pipeline& pipeline, const TemporalShape& shape,
                        const TemporalSchedule& schedule, const Target& target, const Extent& extent) {
    // Share of its issue slots that an SM uses: by the warps that run there; where they wait for each other
    // at every turn, by what all of them hold.
    constexpr double kWarpsToHalfIssue = 2;
    constexpr double kMeetingIssue = 0.58, kWordsToMeet = 128;
    constexpr double kOverlap = 0.25;  // of the lesser time that is not hidden
    constexpr double kTurn = 30;       // instructions of a turn beside the cells'
    constexpr double kLanesPerSm = 128, kClock = 1.9e9;
    double instructions = 0, bytes_read = 0, bytes_written = 0;
    const double cells = schedule.cells[0] * schedule.cells[1];
    Footprints footprints(core);
    for (const Pipeline::Stage& stage : pipeline.stages) {
        const Operations operations = footprints.of(stage.stage).operations;
        const bool wide = std::ranges::any_of(
            stage.uses, [&](const Pipeline::Use& use) { return core[use.field].type == ir::Scalar::f64; });
        instructions += (wide ? 2.0 : 1.0) *
                        (operations.adds + operations.multiplies + operations.fmas + operations.comparisons +
                         8 * operations.divisions + 8 * operations.roots + 20 * operations.functions);
    }
    bool meets = false;
    double widest = 1;  // words of a cell
    for (const Pipeline::Queue& queue : pipeline.queues) {
        const double words = bytes_of(core, queue.field) / 4.0;
        const double rows =
            queue.has_corners ? schedule.cells[1] + queue.reach[1][0] + queue.reach[1][1] : schedule.cells[1];
        instructions += 1.2 * words * (queue.reach[0][0] + queue.reach[0][1]) * rows / cells;
        instructions += words * queue.lines() * schedule.cells[0] / cells;
        meets = meets || queue.lines() > 0;
        if (queue.role == ir::Role::intermediate) continue;
        const double bytes = bytes_of(core, queue.field);
        widest = std::max(widest, words);
        bytes_read += bytes * queue.arriving;
        if (queue.role == ir::Role::state)
            bytes_written += bytes * std::min(1 + core[queue.field].history, pipeline.steps);
    }
    instructions += 0.6 + kTurn / (cells * pipeline.steps);
    const double walk = static_cast<double>(extent[static_cast<std::size_t>(pipeline.walked())]);
    double tiles = 1;
    for (int axis = 0; axis < pipeline.walked(); ++axis)
        tiles *= std::ceil(static_cast<double>(extent[static_cast<std::size_t>(axis)]) /
                           shape.out[static_cast<std::size_t>(axis)]);
    const double workers = static_cast<double>(schedule.blocks) * (pipeline.rank == 2 ? schedule.warps : 1);
    const double starts = (workers + tiles) * (pipeline.lead() + pipeline.tail());
    const double computed = (tiles * walk + starts) * shape.tile[0] * shape.tile[1];
    const double all =
        static_cast<double>(extent[0]) * static_cast<double>(extent[1]) * static_cast<double>(extent[2]);
    const double redundancy = computed / all;
    const double resident = static_cast<double>(schedule.warps) * schedule.min_blocks;
    const double used_sms =
        std::min<double>(target.sms, std::ceil(static_cast<double>(schedule.blocks) / schedule.min_blocks));
    double issue = resident / (resident + kWarpsToHalfIssue);
    if (meets) issue = kMeetingIssue * std::min(1.0, resident * cells * widest / kWordsToMeet);
    issue *= used_sms / target.sms;
    const double compute = redundancy * instructions / (kLanesPerSm * kClock * target.sms * issue);
    const double memory =
        (bytes_read * (1 + (redundancy - 1) / 2) + bytes_written) / target.dram_bandwidth / pipeline.steps;
    return std::max(compute, memory) + kOverlap * std::min(compute, memory);
}

}  // namespace halo::schedule
