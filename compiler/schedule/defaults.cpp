#include "compiler/schedule/defaults.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compiler/schedule/cost.h"
#include "compiler/schedule/print.h"
#include "compiler/schedule/registers.h"
#include "compiler/schedule/shared_layout.h"
#include "compiler/schedule/stream_plan.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

namespace {

using Lengths = std::array<int, 3>;

constexpr int kVectorBytes = 16;
constexpr int kRegisterBudget = 128;     // leaves room for 512 threads on an SM
constexpr int kFewRegisters = 40;        // fewer are never worth asking for
constexpr int kFewWhereStaged = 64;      // loops over a tile are unrolled
constexpr double kRegisterMargin = 1.3;  // of the estimate, where few registers are expected
constexpr int kSpareRegisters = 8;
constexpr double kTightest =
    1.1;  // a walk's estimate over the registers that the compiler still makes do with
constexpr std::int64_t kSystemSharedBytes = 1024;  // taken from an SM for each block
constexpr double kAsGood = 1.03;                   // costs this near are equal: the earlier candidate wins
constexpr double kLastResort = 1e3;                // weight of a candidate past the register budget
constexpr double kBytesAhead = 45e3, kBytesAheadOfWork = 68e3;  // on their way to an SM that streams
constexpr int kMuchWork = 20;                                   // operations a cell
constexpr int kMostAhead = 8;                                   // planes

// Vector widths, widest first: 16 bytes of the type that most of the traffic is in.
std::vector<int> vector_widths(const Footprint& footprint) {
    std::int64_t wide = 0;
    for (const LevelRead& read : footprint.reads)
        wide += size_of(read.storage) == 8 ? 8 : 0;
    for (const LevelWrite& write : footprint.writes)
        wide += size_of(write.storage) == 8 ? 8 : 0;
    const int widest = 2 * wide >= footprint.bytes() && wide > 0 ? kVectorBytes / 8 : kVectorBytes / 4;
    std::vector<int> widths;
    for (int width = widest; width >= 1; width /= 2)
        widths.push_back(width);
    return widths;
}

// Boxes of cells for a thread. More than one along an axis only pays where neighbours along it are shared.
std::vector<Lengths> cell_boxes(const Footprint& footprint, Strategy strategy) {
    static constexpr std::array<std::array<int, 2>, 9> kBoxes{
        {{2, 4}, {4, 2}, {2, 2}, {4, 1}, {1, 4}, {1, 8}, {2, 1}, {1, 2}, {1, 1}}};
    std::vector<Lengths> boxes;
    std::vector<int> widths = strategy == Strategy::tile ? std::vector<int>{1} : vector_widths(footprint);
    if (strategy == Strategy::stream && footprint.rank == 3) widths.resize(1);  // narrow ones gain nothing
    for (const int width : widths) {
        for (const auto& [y, z] : kBoxes) {
            const int rank = strategy == Strategy::stream ? footprint.rank - 1 : footprint.rank;
            if (y > 1 && (rank < 2 || (footprint.reach(1) == 0 && strategy != Strategy::tile))) continue;
            if (z > 1 && (rank < 3 || (footprint.reach(2) == 0 && strategy != Strategy::tile))) continue;
            boxes.push_back({width, y, z});
        }
    }
    return boxes;
}

// Sums, a row and what is the same for all rows stay in registers.
int blocks_for_tables(const Schedule& schedule, const Target& target) {
    constexpr int kRegisters = 64;
    const int threads = schedule.threads[0] * schedule.threads[1] * schedule.threads[2];
    return std::clamp(target.registers_per_sm / (kRegisters * threads), 1, target.max_blocks_per_sm);
}

// Where tables are summed the rows are the work: cells a thread share the loading of a row, and blocks must
// be many enough that all SMs are busy to the end. Relative time for each cell and row.
double table_weight(const Footprint& footprint, const Schedule& schedule, const Target& target,
                    const Extent& grid) {
    constexpr double kRowCost = 0.15;    // of loading a row, against the work of one cell
    constexpr double kWarpsWanted = 16;  // an SM, to keep its units busy
    double blocks = 1, cells = 1, block_cells = 1;
    for (int axis = 0; axis < footprint.rank; ++axis) {
        const auto extent = static_cast<double>(grid[axis]);
        blocks *= std::ceil(extent / schedule.tile(axis));
        cells *= extent;
        block_cells *= schedule.tile(axis);
    }
    const double warps = std::ceil(schedule.threads[0] * schedule.threads[1] * schedule.threads[2] / 32.0);
    const double busiest = std::ceil(blocks / target.sms);
    const double idle = std::max(1.0, kWarpsWanted / (busiest * warps));
    return busiest * target.sms * block_cells / cells * (1 + kRowCost / schedule.cells[0]) * std::sqrt(idle);
}

// Shapes of a block, in order of preference where nothing else decides.
std::vector<Lengths> thread_shapes(int axes) {
    if (axes == 1) return {{256, 1, 1}, {128, 1, 1}, {64, 1, 1}, {32, 1, 1}};
    if (axes == 2) {
        return {{128, 2, 1}, {64, 4, 1},  {32, 8, 1},  {32, 4, 1},  {64, 2, 1},
                {16, 16, 1}, {16, 8, 1},  {8, 16, 1},  {8, 8, 1},   {4, 32, 1},
                {2, 64, 1},  {1, 128, 1}, {128, 4, 1}, {32, 16, 1}, {256, 1, 1}};
    }
    return {{32, 4, 1}, {64, 4, 1}, {32, 4, 2}, {32, 8, 1}, {32, 4, 4}, {32, 2, 2}, {16, 8, 1},
            {16, 8, 2}, {16, 4, 4}, {16, 4, 2}, {8, 16, 1}, {8, 8, 2},  {8, 8, 4},  {64, 2, 1},
            {4, 8, 4},  {4, 32, 1}, {2, 16, 4}, {2, 64, 1}, {1, 32, 4}, {128, 2, 1}};
}

// Of blocks that walk planes: wide ones, as few cells as possible lie around them.
std::vector<Lengths> walk_shapes() {
    return {{64, 8, 1},  {32, 16, 1}, {32, 8, 1}, {64, 4, 1}, {16, 16, 1},
            {16, 32, 1}, {32, 4, 1},  {16, 8, 1}, {8, 16, 1}, {8, 8, 1}};
}

std::vector<Strategy> strategies(const Footprint& footprint, const Pins& pins) {
    if (pins.strategy) return {*pins.strategy};
    if (footprint.table_sums > 0) return {Strategy::direct};
    if ((pins.planes || pins.ahead || pins.unroll) && footprint.rank > 1) return {Strategy::stream};
    // The model is fitted to walks that read one level; rings of several leave each less room.
    const bool walks = footprint.rank == 3 && footprint.reads.size() == 1 && footprint.reach(2) > 0 &&
                       footprint.reach(0) + footprint.reach(1) > 0 && !pins.cells && !pins.threads &&
                       !pins.tile;
    if (walks) return {Strategy::stream, Strategy::direct};
    return {Strategy::direct};
}

// Blocks an SM to limit registers for. Always set: left to itself the compiler may spill values to fit more
// blocks. A register tile gets the whole budget, so that its loads can wait in registers; others what they
// are expected to need and a margin.
int blocks_for_budget(const Footprint& footprint, const Schedule& schedule, const Target& target) {
    const int expected = estimate_registers(footprint, schedule).expected;
    if (expected > kRegisterBudget) return 1;
    const Lengths& cells = schedule.cells;
    const bool register_tile = schedule.strategy == Strategy::direct && cells[1] * cells[2] > 1;
    const int wanted = static_cast<int>(kRegisterMargin * expected) + kSpareRegisters;
    const int least = schedule.strategy == Strategy::direct ? kFewRegisters : kFewWhereStaged;
    const int registers = register_tile ? kRegisterBudget : std::clamp(wanted, least, kRegisterBudget);
    const std::int64_t threads =
        std::int64_t{schedule.threads[0]} * schedule.threads[1] * schedule.threads[2];
    const std::int64_t shared = make_shared_layout(footprint, schedule).bytes + kSystemSharedBytes;
    const std::int64_t blocks =
        std::min({target.registers_per_sm / (registers * threads), target.max_threads_per_sm / threads,
                  std::int64_t{target.max_blocks_per_sm}, target.shared_bytes_per_sm / shared});
    return static_cast<int>(std::max<std::int64_t>(1, blocks));
}

class Chooser {
public:
    Chooser(const Footprint& footprint, const Target& target, const std::optional<Extent>& extent,
            const Pins& pins)
        : footprint_(footprint),
          target_(target),
          extent_(extent),
          pins_(pins),
          grid_(extent ? *extent : typical_extent(footprint.rank)) {}

    Choice run() {
        if (footprint_.at_points && !pins_.any()) {
            Schedule schedule;
            schedule.threads = {128, 1, 1};
            return {schedule, "one thread for each cell that the points touch, or for each point"};
        }
        collect();
        if (ranked_.empty()) return impossible();
        double least = ranked_.front().weight;
        for (const Ranked& ranked : ranked_)
            least = std::min(least, ranked.weight);
        const Ranked& best = *std::ranges::find_if(
            ranked_, [&](const Ranked& ranked) { return ranked.weight <= kAsGood * least; });
        Schedule schedule = best.schedule;
        const std::string padding = pad(schedule);
        return {schedule, explain(schedule) + padding};
    }

private:
    struct Ranked {
        Schedule schedule;
        double weight = 0;
    };

    void collect() {
        for (const Strategy strategy : strategies(footprint_, pins_)) {
            for (const Lengths& cells : boxes(strategy)) {
                for (const Lengths& threads : shapes(strategy, cells))
                    consider(strategy, cells, threads);
            }
        }
    }

    std::vector<Lengths> boxes(Strategy strategy) const {
        if (pins_.cells) return {*pins_.cells};
        if (footprint_.table_sums > 0) return {{4, 1, 1}, {2, 1, 1}, {1, 1, 1}};
        return cell_boxes(footprint_, strategy);
    }

    std::vector<Lengths> shapes(Strategy strategy, const Lengths& cells) const {
        if (pins_.threads) return {*pins_.threads};
        if (pins_.tile) {
            Lengths threads{};
            for (int axis = 0; axis < 3; ++axis) {
                if ((*pins_.tile)[axis] % cells[axis] != 0) return {};
                threads[axis] = (*pins_.tile)[axis] / cells[axis];
            }
            return {threads};
        }
        if (strategy == Strategy::stream && footprint_.rank == 3) return walk_shapes();
        return thread_shapes(strategy == Strategy::stream ? footprint_.rank - 1 : footprint_.rank);
    }

    void consider(Strategy strategy, const Lengths& cells, const Lengths& threads) {
        Schedule schedule;
        schedule.strategy = strategy;
        schedule.cells = cells;
        schedule.threads = threads;
        schedule.shared_padding = pins_.padding.value_or(0);
        schedule.chunk = pins_.chunk.value_or(0);
        schedule.ahead = pins_.ahead.value_or(0);
        schedule.unroll = pins_.unroll.value_or(0);
        const bool tables = footprint_.table_sums > 0;
        schedule.min_blocks = pins_.min_blocks.value_or(
            tables ? blocks_for_tables(schedule, target_) : blocks_for_budget(footprint_, schedule, target_));
        if (strategy == Strategy::stream && !pins_.ahead) fetch_ahead(schedule);
        if (strategy != Strategy::stream) return rank(schedule);
        const std::vector<int> lengths = pins_.planes ? std::vector<int>{*pins_.planes}
                                                      : walk_lengths(footprint_, schedule, target_, grid_);
        for (const int planes : lengths) {
            schedule.planes = planes;
            rank(schedule);
        }
    }

    // As many planes on their way as keep the memory busy, also while a plane's work is long, and no more
    // than fit; more than that only stand in each other's way.
    void fetch_ahead(Schedule& schedule) const {
        const Operations& work = footprint_.operations;
        const bool busy = work.fmas + work.adds + work.multiplies >= kMuchWork;
        const double plane =
            ring_plane_bytes(make_shared_layout(footprint_, schedule)) * std::max(1, schedule.min_blocks);
        const double planes = (busy ? kBytesAheadOfWork : kBytesAhead) / std::max(1.0, plane);
        schedule.ahead = static_cast<int>(std::clamp<long>(std::lround(planes), 1, kMostAhead));
        while (schedule.ahead > 1 && !is_legal(check(footprint_, schedule, target_, extent_)))
            --schedule.ahead;
    }

    void rank(const Schedule& schedule) {
        const bool tables = footprint_.table_sums > 0;
        if (!first_) first_ = schedule;
        if (!is_legal(check(footprint_, schedule, target_, extent_))) return;
        if (tables) {
            ranked_.push_back({schedule, table_weight(footprint_, schedule, target_, grid_)});
            return;
        }
        const int budget = schedule.strategy == Strategy::stream
                               ? static_cast<int>(kTightest * register_limit(schedule, target_))
                               : kRegisterBudget;
        const bool spills = estimate_registers(footprint_, schedule).expected > budget;
        const double cost = estimate_cost(footprint_, schedule, target_, grid_).seconds_per_cell;
        const double registers = estimate_registers(footprint_, schedule).expected;
        ranked_.push_back({schedule, spills ? cost * kLastResort * registers : cost});
    }

    // Nothing legal: with pins, the user's own words stand and check() says why; without, one cell a thread.
    Choice impossible() const {
        Schedule schedule = first_.value_or(apply(pins_, {}));
        if (!pins_.any()) {
            schedule = {};
            schedule.threads = {128, 1, 1};
        }
        return {schedule, "no schedule with these settings can be built"};
    }

    std::string pad(Schedule& schedule) const {
        if (schedule.strategy == Strategy::direct || pins_.padding) return "";
        const Padding padding = choose_padding(footprint_, schedule);
        Schedule padded = schedule;
        padded.shared_padding = padding.elements;
        if (!is_legal(check(footprint_, padded, target_, extent_))) {
            return "; no padding, as shared memory has no room for it";
        }
        schedule = padded;
        return "; " + padding.reason;
    }

    std::string explain(const Schedule& schedule) const;
    std::string neighbours() const;

    const Footprint& footprint_;
    const Target& target_;
    const std::optional<Extent>& extent_;
    const Pins& pins_;
    Extent grid_;
    std::vector<Ranked> ranked_;
    std::optional<Schedule> first_;
};

std::string Chooser::neighbours() const {
    int axes = 0;
    for (int axis = 0; axis < footprint_.rank; ++axis)
        axes += footprint_.reach(axis) > 0 ? 1 : 0;
    if (axes == 0) return "each cell reads itself alone";
    const std::string shape = footprint_.star ? "star" : "box";
    int radius = 0;
    for (const auto& sides : footprint_.radius)
        radius = std::max({radius, sides[0], sides[1]});
    return "a " + shape + " of radius " + std::to_string(radius);
}

std::string Chooser::explain(const Schedule& schedule) const {
    if (footprint_.table_sums > 0) {
        return "sums over tables: rows pass through shared memory, and each is loaded for " +
               counted(schedule.cells[0], "cell") + " a thread; bound by arithmetic";
    }
    const Cost cost = estimate_cost(footprint_, schedule, target_, grid_);
    const int bytes = schedule.cells[0] * footprint_.widest_bytes();
    std::string text = neighbours() + ": ";
    switch (schedule.strategy) {
        case Strategy::direct: {
            const std::int64_t cells =
                std::int64_t{schedule.cells[0]} * schedule.cells[1] * schedule.cells[2];
            text += cells == 1 ? "one cell a thread" : "vectors of " + std::to_string(bytes) + " bytes";
            if (cells > schedule.cells[0]) {
                text += ", and " + grouped(cells) + " cells a thread share their neighbours in about " +
                        grouped(estimate_registers(footprint_, schedule).expected) + " registers";
            }
            break;
        }
        case Strategy::tile:
            text += "each cell is fetched once for a block and shared by its threads";
            break;
        case Strategy::stream:
            text += "planes arrive in shared memory, " + grouped(planes_ahead(schedule)) +
                    " on their way; cells along the walk wait in registers";
            break;
    }
    if (extent_) {
        text += "; " + counted(cost.blocks, "block") + " on " + grouped(target_.sms) + " SMs";
    } else {
        text += "; for a large grid, as none is given";
    }
    const char* const bound = cost.bound == Bound::dram ? "device memory"
                              : cost.bound == Bound::l2 ? "the L2 cache"
                                                        : "L1 and shared memory";
    return text + "; bound by " + bound;
}

}  // namespace

Choice choose(const Footprint& footprint, const Target& target, const std::optional<Extent>& extent,
              const Pins& pins) {
    return Chooser(footprint, target, extent, pins).run();
}

Choice choose(const ir::Program& program, const ir::Stage& stage, const Target& target,
              const std::optional<Extent>& extent, const Pins& pins) {
    return choose(footprint(program, stage), target, extent, pins);
}

int usual_min_blocks(const Footprint& footprint, const Schedule& schedule, const Target& target) {
    return footprint.table_sums > 0 ? blocks_for_tables(schedule, target)
                                    : blocks_for_budget(footprint, schedule, target);
}

std::vector<int> walk_lengths(const Footprint& footprint, const Schedule& schedule, const Target& target,
                              const Extent& grid) {
    const int walked = footprint.rank - 1;
    std::int64_t tiles = 1;
    for (int axis = 0; axis < walked; ++axis)
        tiles *= (grid[axis] + schedule.tile(axis) - 1) / schedule.tile(axis);
    const std::int64_t at_a_time = std::int64_t{target.sms} * std::max(1, schedule.min_blocks);
    std::vector<int> lengths;
    for (const int waves : {2, 3, 4, 1}) {
        const std::int64_t parts = waves * at_a_time / tiles;
        if (parts < 2) continue;
        const int planes = static_cast<int>((grid[walked] + parts - 1) / parts);
        if (std::ranges::find(lengths, planes) == lengths.end()) lengths.push_back(planes);
    }
    lengths.push_back(0);
    return lengths;
}

double rank_table_sums(const Footprint& footprint, const Schedule& schedule, const Target& target,
                       const Extent& grid) {
    return table_weight(footprint, schedule, target, grid);
}

}  // namespace halo::schedule
