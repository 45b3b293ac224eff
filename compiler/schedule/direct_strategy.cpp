#include "compiler/schedule/direct_strategy.h"

#include <algorithm>

#include "compiler/schedule/direct_model.h"
#include "compiler/schedule/strategy_parts.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

namespace {

using rt::Lengths;

constexpr int kChunkRowBytes = 16;  // of a table's row in shared memory, besides its elements

// Where tables are summed.
std::vector<Reason> check_sums(const Footprint& footprint, const Schedule& schedule, const Target& target) {
    const int chunk = std::get<Direct>(schedule.strategy).chunk;
    if (footprint.table_sums == 0) {
        if (chunk == 0) return {};
        return {{true, Setting::chunk, "this stage sums over no table, so there are no chunks of rows"}};
    }
    std::vector<Reason> reasons;
    if (schedule.cells[1] * schedule.cells[2] > 1)
        reasons.push_back(
            {true, Setting::cells,
             "where tables are summed a thread's cells lie along the first axis; give 1 along the others"});
    const std::int64_t bytes = std::int64_t{chunk} * (footprint.row_bytes + kChunkRowBytes);
    if (bytes > target.static_shared_bytes)
        reasons.push_back({true, Setting::chunk,
                           "a chunk of " + grouped(chunk) + " rows may need " + grouped(bytes) +
                               " bytes of shared memory; there are " + grouped(target.static_shared_bytes)});
    return reasons;
}

// Where the stage shares a launch.
std::vector<Reason> check_fuse(const Schedule& schedule, const Target& target) {
    const int fuse = std::get<Direct>(schedule.strategy).fuse;
    const int threads = schedule.threads[0] * schedule.threads[1] * schedule.threads[2];
    if (fuse > target.max_threads_per_block)
        return {{true, Setting::fuse,
                 "one block of " + grouped(fuse) + " threads; " + target.name + " allows " +
                     grouped(target.max_threads_per_block)}};
    if (threads > 0 && fuse % threads != 0)
        return {{true, Setting::fuse,
                 "the one block of " + grouped(fuse) +
                     " threads does several of the stage's blocks at once, and is no "
                     "multiple of their " +
                     grouped(threads) + " threads"}};
    return {};
}

std::vector<Reason> check_direct(const Footprint& footprint, const Schedule& schedule, const Target& target) {
    std::vector<Reason> reasons = check_sums(footprint, schedule, target);
    std::ranges::copy(check_fuse(schedule, target), std::back_inserter(reasons));
    return reasons;
}

// Of a thread that has a part of a line: the cells that it reads at their own place are there for this
// stretch and for the next.
int registers_of_part(const Footprint& footprint, const Schedule& schedule) {
    const int cells = schedule.cells[static_cast<std::size_t>(*footprint.swept_axis)];
    const bool divides = *footprint.part_bytes >= 4 * size_of(ir::Scalar::f64);
    int words = 0;
    for (const LevelRead& read : footprint.reads)
        for (const ir::Offset& offset : read.offsets)
            words += (offset == ir::Offset{} ? 2 * cells : 1) * words_of(read.type);
    return std::max(direct_model::kLeastOfPart,
                    words + (divides ? direct_model::kRegistersOfQuotients : direct_model::kRegistersOfSums));
}

RegisterEstimate direct_registers(const Footprint& footprint, const Schedule& schedule) {
    if (footprint.part_bytes && schedule.threads[static_cast<std::size_t>(*footprint.swept_axis)] > 1) {
        const int needed = registers_of_part(footprint, schedule);
        return {needed, needed, needed};
    }
    RegisterEstimate estimate{base_registers(footprint), base_registers(footprint)};
    const int box = schedule.cells[0] * schedule.cells[1] * schedule.cells[2];
    for (const LevelRead& read : footprint.reads) {
        const int words = words_of(read.type);
        if (!read.at_neighbours()) {
            estimate.expected += static_cast<int>(direct_model::kShareInFlight * box * words);
            continue;
        }
        const Window needed = window(read, schedule.cells);
        const int once = needed.elements - needed.shared_by_cells;
        estimate.held += needed.shared_by_cells * words;
        estimate.expected += needed.shared_by_cells * words +
                             std::min(direct_model::kMostInFlight,
                                      static_cast<int>(direct_model::kShareInFlight * once * words));
    }
    if (schedule.cells[1] * schedule.cells[2] > 1) return estimate;
    // The cells of a single row use most values once: a load can wait until then.
    const int results = box * words_of_results(footprint);
    estimate.enough = std::min(estimate.expected,
                               std::max(estimate.held + results + direct_model::kSpareOfRow,
                                        static_cast<int>(direct_model::kShareThatWaits * estimate.expected)));
    return estimate;
}

// Counted in whole vectors.
double direct_taken_per_cell(const LevelRead& read, const Footprint& /*footprint*/, const Schedule& schedule,
                             double /*fetched*/) {
    const rt::Lengths& cells = schedule.cells;
    const auto vectors_of = [&](int radius) {
        const int rounded_up = (radius + cells[0] - 1) / cells[0];
        return static_cast<double>(rounded_up);
    };
    const double width = cells[0];
    double vectors = 1, loads = 1;
    for (const int radius : read.radius[0]) {
        // A few neighbours are loaded one by one, and each takes as long as a vector (lower/window.h).
        const bool whole = cells[0] > 1 && 2 * radius > cells[0];
        vectors += vectors_of(radius);
        loads += whole ? vectors_of(radius) : static_cast<double>(radius);
    }
    std::array<double, 3> reach{0, 0, 0};
    for (int axis = 1; axis < 3; ++axis)
        reach[axis] = read.reach(axis);
    const double box = width * cells[1] * cells[2];
    const double volumes = read.reach(3);  // of a fourth axis, of which a thread has one cell
    const double star =
        width * (cells[1] * cells[2] * (loads + volumes) + reach[1] * cells[2] + reach[2] * cells[1]);
    const double whole = width * vectors * (cells[1] + reach[1]) * (cells[2] + reach[2]) * (1 + volumes);
    // Cells that share nothing load each of their places: a vector where it is aligned, else one by one.
    double places = 0;
    for (const ir::Offset& offset : read.offsets)
        places += offset[0] % cells[0] == 0 ? 1 : width;
    return std::min((read.star ? star : whole) / box, places);
}

double direct_latency(const Footprint& footprint, const Schedule& /*schedule*/, const BlockFacts& facts) {
    double latency = few_warps(facts.warps, direct_model::kWarpsToHideLatency);
    // Where an SM holds one block, no other one loads while it computes.
    if (facts.bound_by_memory && facts.resident <= 1 && facts.busiest > 1) {
        const double work = footprint.flops_per_byte() - direct_model::kHiddenFlopsPerByte;
        latency *=
            std::min(direct_model::kLoneBlockFactor + direct_model::kLoneBlockWork * std::max(work, 0.0),
                     direct_model::kMostOfLoneBlock);
    }
    return latency;
}

std::vector<Lengths> direct_cells(const Footprint& footprint) {
    if (footprint.table_sums > 0) return {{4, 1, 1}, {2, 1, 1}, {1, 1, 1}};
    if (footprint.part_bytes) {
        Lengths part{};
        part[static_cast<std::size_t>(*footprint.swept_axis)] = direct_model::kCellsOfPart;
        return {{1, 1, 1}, part};
    }
    std::vector<Lengths> boxes = cell_boxes(footprint, vector_widths(footprint), footprint.rank);
    // Four cells of bytes are a register, so that a thread has room for more of them.
    if (is_of_bytes(footprint) && footprint.rank >= 2 && footprint.reach(1) > 0)
        boxes.insert(boxes.begin(),
                     {{kCellsOfBytes, direct_model::kRowsOfBytes, 1}, {4, direct_model::kRowsOfBytes, 1}});
    return boxes;
}

// Lines of a sweep are few: small blocks give every SM some of them. Neighbouring threads have neighbouring
// cells of the first axis, unless that is the one that the sweep goes along.
std::vector<Lengths> direct_threads(const Footprint& footprint) {
    if (!footprint.swept_axis) return thread_shapes(footprint.rank);
    if (footprint.swept_within) {
        std::vector<Lengths> blocks;
        for (const int threads : direct_model::kThreadsOfPlane) {
            blocks.push_back({1, 1, 1});
            blocks.back()[footprint.sweeps_along(0) ? 0 : 1] = threads;
        }
        return blocks;
    }
    const auto along = static_cast<std::size_t>(*footprint.swept_axis);
    std::vector<Lengths> shapes{{32, 1, 1}, {64, 1, 1}};
    if (along == 0) shapes = {{1, 32, 1}, {1, 64, 1}};
    if (footprint.rank == 1) shapes = {{1, 1, 1}};
    if (!footprint.part_bytes) return shapes;
    if (footprint.rank == 1) {
        shapes.push_back({direct_model::kPartsOfOneLine, 1, 1});
        return shapes;
    }
    for (const auto& [lines, parts] :
         along == 0 ? direct_model::kPartShapesOfRows : direct_model::kPartShapes) {
        Lengths shape{};
        shape[along == 0 ? 1 : 0] = lines;
        shape[along] = parts;
        shapes.push_back(shape);
    }
    return shapes;
}

// A box of rows gets the whole budget, so that its loads can wait in registers.
int least_direct_registers(const Schedule& schedule) {
    return schedule.cells[1] * schedule.cells[2] > 1 ? kRegisterBudget : direct_model::kLeastRegisters;
}

std::string direct_reason(const Footprint& footprint, const Schedule& schedule) {
    const std::int64_t cells = std::int64_t{schedule.cells[0]} * schedule.cells[1] * schedule.cells[2];
    const int bytes = schedule.cells[0] * (is_of_bytes(footprint) ? 1 : footprint.widest_bytes());
    std::string text = cells == 1 ? "one cell a thread" : "vectors of " + std::to_string(bytes) + " bytes";
    if (cells > schedule.cells[0])
        text += ", and " + grouped(cells) + " cells a thread share their neighbours in about " +
                grouped(direct_registers(footprint, schedule).expected) + " registers";
    return text;
}

std::string describe_direct(const Schedule& schedule, int /*rank*/) {
    const int fuse = std::get<Direct>(schedule.strategy).fuse;
    return fuse == 0 ? "" : ", with its neighbours by one block of " + grouped(fuse) + " threads";
}

}  // namespace

StrategyKind direct_strategy() {
    StrategyKind kind;
    kind.name = kind.title = "direct";
    kind.neutral = Direct{};
    kind.settings = {{Setting::chunk, setting_in<Direct, &Direct::chunk>,
                      "only direct sums over tables, by chunks of their rows; {} has no chunks"},
                     {Setting::fuse, setting_in<Direct, &Direct::fuse>,
                      "only stages by direct share a launch with others; {} has one of its own"}};
    kind.describe = describe_direct;
    kind.check = check_direct;
    kind.packs_bytes = true;
    kind.registers = direct_registers;
    kind.taken_per_cell = direct_taken_per_cell;
    kind.latency = direct_latency;
    kind.is_likely = [](const Footprint&, const Pins&) { return true; };
    kind.cells = direct_cells;
    kind.threads = direct_threads;
    kind.least_registers = least_direct_registers;
    kind.easy_registers = [](const Schedule&, const Target&) { return kRegisterBudget; };
    kind.reason = direct_reason;
    return kind;
}

}  // namespace halo::schedule
