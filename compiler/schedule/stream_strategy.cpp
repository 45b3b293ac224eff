#include "compiler/schedule/stream_strategy.h"

#include <algorithm>
#include <cmath>

#include "compiler/schedule/strategy_parts.h"
#include "compiler/schedule/stream_model.h"
#include "compiler/schedule/stream_plan.h"
#include "compiler/schedule/sweep_model.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

namespace {

using rt::Lengths;

constexpr int kRowAlignment = 128;  // bytes: a line of the cache
constexpr int kMostAhead = 16, kMostUnroll = 16;

const Stream& stream_of(const Schedule& schedule) {
    return std::get<Stream>(schedule.strategy);
}

int rows_of_thread(const Footprint& footprint, const Schedule& schedule) {
    return footprint.rank == 3 ? schedule.cells[1] : 1;
}

std::vector<Reason> check_stream(const Footprint& /*footprint*/, const Schedule& schedule,
                                 const Target& /*target*/) {
    const Stream& stream = stream_of(schedule);
    std::vector<Reason> reasons;
    const auto limit = [&](Setting setting, std::string text) {
        reasons.push_back({true, setting, std::move(text)});
    };
    if (stream.planes < 0) limit(Setting::planes, "planes cannot be negative");
    if (stream.ahead < 0 || stream.ahead > kMostAhead)
        limit(Setting::ahead, "1 to " + std::to_string(kMostAhead) + " planes can be on their way");
    if (stream.unroll < 0 || stream.unroll > kMostUnroll)
        limit(Setting::unroll, "1 to " + std::to_string(kMostUnroll) + " iterations can be unrolled");
    return reasons;
}

// The queue and the addresses of a thread's copies stay in registers for the whole traversal. Neighbours that
// are read in a single plane are loaded row by row.
RegisterEstimate stream_registers(const Footprint& footprint, const Schedule& schedule) {
    RegisterEstimate estimate{base_registers(footprint), base_registers(footprint)};
    for (const LevelRead& read : footprint.reads) {
        const StreamPlan plan = plan_stream(read, footprint.rank, schedule);
        const int queue = queue_words(plan, read.type);
        estimate.held += queue;
        const int gathered = std::min(gathered_words(plan, read.type), stream_model::kMostGathered);
        estimate.expected += queue + static_cast<int>(stream_model::kShareGathered * gathered);
    }
    estimate.expected +=
        schedule.cells[0] * rows_of_thread(footprint, schedule) * words_of_results(footprint);
    estimate.expected += stream_model::kRingRegisters;
    return estimate;
}

// A ring of planes, whose rows have the alignment to a line that they have in memory.
std::optional<StagedLevel> stage_ring(const LevelRead& read, const Footprint& footprint,
                                      const Schedule& schedule) {
    StagedLevel level = plain_level(read, footprint, schedule, stream_of(schedule).padding);
    const int line = kRowAlignment / size_of(level.type);
    level.pitch = round_up(level.pitch - level.padding, line) + level.padding;
    level.origin = round_up(level.low[0], line);
    level.planes = plan_stream(read, footprint.rank, schedule).arriving() + planes_ahead(schedule);
    // The last row ends with its halo.
    level.plane_elements =
        round_up(level.origin + (level.rows - 1) * level.pitch + level.tile[0] + level.high[0], line);
    return level;
}

std::vector<SharedLoad> stream_loads(const LevelRead& read, const Footprint& footprint,
                                     const Schedule& schedule) {
    Schedule first_row = schedule;
    first_row.cells[1] = 1;
    std::vector<SharedLoad> loads;
    for (const StreamPiece& piece : plan_stream(read, footprint.rank, first_row).pieces) {
        ir::Offset offset{piece.column, piece.row, 0};
        offset[static_cast<std::size_t>(footprint.rank - 1)] = piece.plane;
        loads.push_back({offset, std::min(piece.width, kVectorBytes / size_of(read.type))});
    }
    return loads;
}

// Planes arrive with their halo. Each load takes the time of a whole vector, as the loads of a warp are a
// vector apart.
double stream_taken_per_cell(const LevelRead& read, const Footprint& footprint, const Schedule& schedule,
                             double fetched) {
    const StreamPlan plan = plan_stream(read, footprint.rank, schedule);
    return static_cast<double>(plan.pieces.size()) / rows_of_thread(footprint, schedule) + fetched;
}

// Planes of several levels wait in shared memory and registers beside each other.
bool reads_several_levels(const Footprint& footprint) {
    return footprint.reads.size() > 1;
}

double stream_latency(const Footprint& footprint, const Schedule& schedule, const BlockFacts& facts) {
    const double resident = static_cast<double>(std::max<std::int64_t>(1, facts.resident));
    const double ahead =
        resident * planes_ahead(schedule) * ring_plane_bytes(make_shared_layout(footprint, schedule));
    double latency = few_warps(facts.warps, stream_model::kWarpsToHideLatency);
    if (!reads_several_levels(footprint)) latency *= stream_model::kTraversalFactor;
    latency *= 1 + stream_model::kPlanesToStart / facts.cells[static_cast<std::size_t>(footprint.rank - 1)];
    latency *= 1 + stream_model::kThinStreamCost * std::max(0.0, 1 - ahead / stream_model::kBytesAwaited);
    if (footprint.rank == 2 && facts.resident <= 1) latency *= stream_model::kLoneBlockOfRows;
    if (static_cast<double>(facts.blocks) <= facts.target.sms * resident)
        latency *= stream_model::kOneWaveFactor;
    return latency;
}

double stream_blend(const Footprint& footprint) {
    return reads_several_levels(footprint) ? stream_model::kBlendOfLevels : sweep_model::kBlend;
}

// Cells that share no value of a level have no use for a ring of it: in a lattice Boltzmann step each reads
// the population that arrives, from one place.
bool is_shared(const LevelRead& read) {
    return !read.at_neighbours() || read.offsets.size() > 2;
}

// Whether what neighbours share repays the copies of all planes.
bool repays_copies(const Footprint& footprint) {
    std::size_t points = 0;
    for (const LevelRead& read : footprint.reads)
        points += read.offsets.size();
    return footprint.reads.size() <= stream_model::kMostLevels ||
           points >= stream_model::kManyPoints * footprint.reads.size();
}

bool is_stream_likely(const Footprint& footprint, const Pins& pins) {
    if (pins.cells || pins.threads || pins.tile) return false;
    if (footprint.rank == 2) return footprint.reach(1) >= stream_model::kLeastReachOfRows;
    return footprint.rank == 3 && repays_copies(footprint) &&
           std::ranges::all_of(footprint.reads, is_shared) && footprint.reach(2) > 0 &&
           footprint.reach(0) + footprint.reach(1) > 0;
}

std::vector<Lengths> stream_cells(const Footprint& footprint) {
    std::vector<int> widths = vector_widths(footprint);
    if (footprint.rank == 3) widths.resize(1);  // narrow ones gain nothing
    return cell_boxes(footprint, widths, footprint.rank - 1);
}

// Wide blocks, with small halos.
std::vector<Lengths> stream_threads(const Footprint& footprint) {
    if (footprint.rank < 3) return thread_shapes(1);
    return {{64, 8, 1},  {32, 16, 1}, {32, 8, 1}, {64, 4, 1}, {16, 16, 1},
            {16, 32, 1}, {32, 4, 1},  {16, 8, 1}, {8, 16, 1}, {8, 8, 1}};
}

// Chooses as many planes in flight as saturate memory, also where the work for a plane is long, if they fit.
// More of them only compete for memory.
void fetch_ahead(Schedule& schedule, const ChoiceContext& context) {
    if (context.pins.ahead) return;
    const Operations& work = context.footprint.operations;
    const bool several = reads_several_levels(context.footprint);
    const bool busy = several || work.fmas + work.adds + work.multiplies >= stream_model::kMuchWork;
    const int least = several ? stream_model::kLeastAheadOfLevels : 1;
    const double plane =
        ring_plane_bytes(make_shared_layout(context.footprint, schedule)) * std::max(1, schedule.min_blocks);
    const double planes =
        (busy ? stream_model::kBytesAheadOfWork : stream_model::kBytesAhead) / std::max(1.0, plane);
    int& ahead = std::get<Stream>(schedule.strategy).ahead;
    ahead = static_cast<int>(std::clamp<long>(std::lround(planes), least, stream_model::kMostAheadChosen));
    while (ahead > least && !is_legal(check(context.footprint, schedule, context.target, context.extent)))
        --ahead;
}

// Lists the lengths of traversals by which two, three, four waves of blocks, or one, divide the grid evenly;
// then that of a single block along the whole axis. Of rows, a few do: far rows that blocks read at a time
// are in as many pages of memory.
std::vector<Schedule> share_out_planes(const Schedule& schedule, const ChoiceContext& context) {
    std::vector<int> lengths;
    if (context.pins.planes) {
        lengths = {*context.pins.planes};
    } else if (context.footprint.rank == 2) {
        lengths = {stream_model::kRowsOfTraversal};
    } else {
        const int slowest = context.footprint.rank - 1;
        std::int64_t tiles = 1;
        for (int axis = 0; axis < slowest; ++axis)
            tiles *= (context.grid[axis] + schedule.tile(axis) - 1) / schedule.tile(axis);
        const std::int64_t at_a_time = std::int64_t{context.target.sms} * std::max(1, schedule.min_blocks);
        for (const int waves : {2, 3, 4, 1}) {
            const std::int64_t parts = waves * at_a_time / tiles;
            if (parts < 2) continue;
            const int planes = static_cast<int>((context.grid[slowest] + parts - 1) / parts);
            if (std::ranges::find(lengths, planes) == lengths.end()) lengths.push_back(planes);
        }
        lengths.push_back(0);
    }
    std::vector<Schedule> all;
    for (const int planes : lengths) {
        all.push_back(schedule);
        std::get<Stream>(all.back().strategy).planes = planes;
    }
    return all;
}

// Varies the planes in flight and the unrolling.
std::vector<Schedule> vary_stream(const Schedule& schedule, const Pins& pins) {
    std::vector<Schedule> others;
    const auto add = [&](int Stream::* setting, int value) {
        others.push_back(schedule);
        std::get<Stream>(others.back().strategy).*setting = value;
    };
    for (const int ahead : {2, 4, 6})
        if (!pins.ahead) add(&Stream::ahead, ahead);
    if (!pins.unroll) add(&Stream::unroll, 1);
    return others;
}

std::string describe_stream(const Schedule& schedule, int rank) {
    const Stream& stream = stream_of(schedule);
    const std::string what = rank == 2 ? "row" : "plane";
    std::string text =
        stream.planes > 0 ? ", walking " + counted(stream.planes, what) : ", walking all " + what + "s";
    text += ", " + counted(planes_ahead(schedule), what) + " ahead";
    if (stream.unroll > 0) text += ", unrolled by " + std::to_string(stream.unroll);
    return text;
}

}  // namespace

StrategyKind stream_strategy() {
    StrategyKind kind;
    kind.name = "stream";
    kind.title = "streaming along the slowest axis";
    kind.neutral = Stream{};
    kind.settings = {{Setting::planes, setting_in<Stream, &Stream::planes>,
                      "only stream traverses planes; a {} schedule has none to count"},
                     {Setting::ahead, setting_in<Stream, &Stream::ahead>,
                      "only stream has planes on their way ahead of the one that is computed"},
                     {Setting::unroll, setting_in<Stream, &Stream::unroll>,
                      "only stream has iterations of a traversal to unroll"},
                     {Setting::padding, setting_in<Stream, &Stream::padding>, kNoRowsToPad}};
    kind.refusals = kStagedRefusals;
    kind.streams = true;
    kind.check = check_stream;
    kind.registers = stream_registers;
    kind.stage = stage_ring;
    kind.loads = stream_loads;
    kind.staged = "the ring of planes";
    kind.alignment = kRowAlignment;
    kind.pads_whole_vectors = true;
    kind.taken_per_cell = stream_taken_per_cell;
    kind.latency = stream_latency;
    kind.blend = stream_blend;
    kind.is_likely = is_stream_likely;
    kind.cells = stream_cells;
    kind.threads = stream_threads;
    kind.least_registers = [](const Schedule&) { return kFewWhereStaged; };
    kind.easy_registers = register_limit;
    kind.tightest = stream_model::kTightest;
    kind.settle = fetch_ahead;
    kind.share_out = share_out_planes;
    kind.vary = vary_stream;
    kind.reason = [](const Footprint&, const Schedule& schedule) {
        return "planes arrive in shared memory, " + grouped(planes_ahead(schedule)) +
               " on their way; cells along the streaming axis wait in registers";
    };
    kind.describe = describe_stream;
    return kind;
}

}  // namespace halo::schedule
