#include "compiler/schedule/legality.h"

#include <algorithm>

#include "compiler/ir/print.h"
#include "compiler/schedule/print.h"
#include "compiler/schedule/registers.h"
#include "compiler/schedule/shared_layout.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

namespace {

constexpr int kVectorWidths[] = {1, 2, 4};  // that the prelude has loads and stores of
constexpr std::int64_t kMostCells = 128;    // direct and stream write a thread's cells out one by one
constexpr std::int64_t kMostTileCells = 4096;
constexpr int kMostAhead = 16;
constexpr int kMostUnroll = 16;
constexpr std::int64_t kSystemSharedBytes = 1024;  // taken from an SM for each block
constexpr const char* kAxisNames[] = {"first", "second", "third"};

std::int64_t product(const std::array<int, 3>& values) {
    return std::int64_t{values[0]} * values[1] * values[2];
}

class Checker {
public:
    Checker(const Footprint& footprint, const Schedule& schedule, const Target& target,
            const std::optional<Extent>& extent)
        : footprint_(footprint), schedule_(schedule), target_(target), extent_(extent) {}

    std::vector<Reason> run() {
        check_shape();
        check_threads();
        check_cells();
        if (!reasons_.empty()) return reasons_;  // the rest builds on sane lengths
        check_vector();
        check_shared();
        check_registers();
        check_blocks();
        if (reasons_.empty()) add_notes();
        return reasons_;
    }

private:
    void limit(Setting setting, std::string text) { reasons_.push_back({true, setting, std::move(text)}); }
    void note(Setting setting, std::string text) { reasons_.push_back({false, setting, std::move(text)}); }
    bool is(Strategy strategy) const { return schedule_.strategy == strategy; }

    void check_shape() {
        const int rank = footprint_.rank;
        if (footprint_.in_place && !is(Strategy::direct))
            limit(Setting::strategy, "what changes a field in place is computed by direct alone");
        if (footprint_.in_place && product(schedule_.cells) != 1)
            limit(Setting::cells, "what changes a field in place has one cell a thread");
        if (is(Strategy::stream) && rank < 2) {
            limit(Setting::strategy,
                  "stream walks along the slowest of two or three axes; this program has 1 axis");
        }
        const int covered = is(Strategy::stream) ? std::max(1, rank - 1) : rank;
        for (int axis = covered; axis < 3; ++axis) {
            const bool walked = axis < rank;
            if (schedule_.threads[axis] != 1) limit(Setting::threads, past_rank("threads", axis, walked));
            if (schedule_.cells[axis] != 1) limit(Setting::cells, past_rank("cells", axis, walked));
        }
        if (!is(Strategy::stream) && schedule_.planes != 0) {
            limit(Setting::planes, "only stream walks planes; a " + name_of(schedule_.strategy) +
                                       " schedule has none to count");
        }
        if (!is(Strategy::stream) && schedule_.ahead != 0)
            limit(Setting::ahead, "only stream has planes on their way ahead of the one that is computed");
        if (!is(Strategy::stream) && schedule_.unroll != 0)
            limit(Setting::unroll, "only stream has turns of a walk to unroll");
        if (const auto narrow = footprint_.narrow_storage(); narrow && !is(Strategy::direct)) {
            limit(Setting::strategy, name_of(schedule_.strategy) +
                                         " keeps values as they lie in memory, of 4 or 8 bytes; " +
                                         std::string(ir::name_of(*narrow)) +
                                         " is converted where it is loaded, which direct does");
        }
        if (footprint_.interleaved && !is(Strategy::direct)) {
            limit(Setting::strategy,
                  name_of(schedule_.strategy) +
                      " copies rows of one component, and with `layout aos` a row has all of "
                      "them; direct reads them where they are");
        }
        if (is(Strategy::direct) && schedule_.shared_padding != 0) {
            limit(Setting::padding, "direct keeps nothing in shared memory, so there are no rows to pad");
        }
        if (footprint_.table_sums > 0 && !is(Strategy::direct)) {
            limit(Setting::strategy, "a stage that sums over a table runs as direct; " +
                                         name_of(schedule_.strategy) + " has no place for the table's rows");
        }
        if (footprint_.table_sums == 0 && schedule_.chunk != 0) {
            limit(Setting::chunk, "this stage sums over no table, so there are no chunks of rows");
        }
        if (schedule_.planes < 0) limit(Setting::planes, "planes cannot be negative");
        if (schedule_.ahead < 0 || schedule_.ahead > kMostAhead)
            limit(Setting::ahead, "1 to " + std::to_string(kMostAhead) + " planes can be on their way");
        if (schedule_.unroll < 0 || schedule_.unroll > kMostUnroll)
            limit(Setting::unroll, "1 to " + std::to_string(kMostUnroll) + " turns can be unrolled");
        if (schedule_.shared_padding < 0) limit(Setting::padding, "padding cannot be negative");
        if (schedule_.min_blocks < 0) limit(Setting::min_blocks, "min_blocks cannot be negative");
    }

    std::string past_rank(const std::string& what, int axis, bool walked) const {
        const int value = what == "threads" ? schedule_.threads[axis] : schedule_.cells[axis];
        const std::string given =
            std::to_string(value) + " " + what + " along the " + kAxisNames[axis] + " axis";
        if (walked) return given + ": stream walks along that axis and has 1 there";
        return given + ": the program has " + (footprint_.rank == 1 ? "1 axis" : "2 axes");
    }

    void check_threads() {
        const std::int64_t threads = product(schedule_.threads);
        for (int axis = 0; axis < 3; ++axis) {
            if (schedule_.threads[axis] < 1) {
                limit(Setting::threads, "a block has at least 1 thread along each axis");
                return;
            }
            if (schedule_.threads[axis] > target_.max_threads[axis]) {
                limit(Setting::threads, grouped(schedule_.threads[axis]) + " threads along the " +
                                            kAxisNames[axis] + " axis; " + target_.name + " allows " +
                                            grouped(target_.max_threads[axis]));
            }
        }
        if (threads > target_.max_threads_per_block) {
            limit(Setting::threads, lengths(schedule_.threads, footprint_.rank) + " threads are " +
                                        grouped(threads) + " a block; " + target_.name + " allows " +
                                        grouped(target_.max_threads_per_block));
        }
        if (footprint_.reductions > 0 && threads % target_.warp != 0) {
            limit(Setting::threads, "a reduction is taken warp by warp: " + grouped(threads) +
                                        " threads a block are no multiple of the " +
                                        std::to_string(target_.warp) + " of a warp");
        }
        const std::int64_t resident = threads * schedule_.min_blocks;
        if (schedule_.min_blocks > target_.max_blocks_per_sm) {
            limit(Setting::min_blocks, grouped(schedule_.min_blocks) + " blocks an SM; " + target_.name +
                                           " runs at most " + grouped(target_.max_blocks_per_sm));
        } else if (resident > target_.max_threads_per_sm && threads <= target_.max_threads_per_block) {
            limit(Setting::min_blocks, counted(schedule_.min_blocks, "block") + " of " + grouped(threads) +
                                           " threads are " + grouped(resident) + " threads an SM; " +
                                           target_.name + " runs at most " +
                                           grouped(target_.max_threads_per_sm));
        }
    }

    void check_cells() {
        for (int axis = 0; axis < 3; ++axis) {
            if (schedule_.cells[axis] < 1) {
                limit(Setting::cells, "a thread computes at least 1 cell along each axis");
                return;
            }
        }
        const std::int64_t most = is(Strategy::tile) ? kMostTileCells : kMostCells;
        const std::int64_t cells = product(schedule_.cells);
        if (cells > most) {
            limit(Setting::cells, lengths(schedule_.cells, footprint_.rank) + " cells are " + grouped(cells) +
                                      " a thread; " + name_of(schedule_.strategy) + " allows " +
                                      grouped(most));
        }
    }

    void check_vector() {
        if (footprint_.table_sums > 0) return check_table_cells();
        if (is(Strategy::tile)) return;
        const int width = schedule_.cells[0];
        if (footprint_.interleaved && width > 1) {
            limit(Setting::cells,
                  "a thread's cells along the first axis are loaded as one vector, and with `layout aos` a "
                  "component's cells do not lie side by side; give 1 along the first axis");
            return;
        }
        if (std::ranges::find(kVectorWidths, width) == std::end(kVectorWidths)) {
            limit(Setting::cells, "a thread's cells along the first axis are one vector, of 1, 2 or 4; not " +
                                      std::to_string(width));
            return;
        }
    }

    void check_table_cells() {
        if (schedule_.cells[1] * schedule_.cells[2] > 1) {
            limit(
                Setting::cells,
                "where tables are summed a thread's cells lie along the first axis; give 1 along the others");
        }
        const std::int64_t bytes = std::int64_t{schedule_.chunk} * (footprint_.row_bytes + 16);
        if (bytes > target_.static_shared_bytes) {
            limit(Setting::chunk, "a chunk of " + grouped(schedule_.chunk) + " rows may need " +
                                      grouped(bytes) + " bytes of shared memory; there are " +
                                      grouped(target_.static_shared_bytes));
        }
    }

    void check_shared() {
        const SharedLayout layout = make_shared_layout(footprint_, schedule_);
        if (layout.bytes > target_.max_shared_bytes) {
            const std::string what = is(Strategy::tile) ? "the tile" : "the ring of planes";
            limit(is(Strategy::tile) ? Setting::tile : Setting::threads,
                  what + " of " + lengths(tile_cells(), footprint_.rank) + " cells and its halo need " +
                      grouped(layout.bytes) + " bytes of shared memory; " + target_.name + " allows " +
                      grouped(target_.max_shared_bytes) + " a block");
        }
        const std::int64_t resident = (layout.bytes + kSystemSharedBytes) * schedule_.min_blocks;
        if (layout.bytes > 0 && resident > target_.shared_bytes_per_sm &&
            layout.bytes <= target_.max_shared_bytes) {
            limit(Setting::min_blocks, counted(schedule_.min_blocks, "block") + " of " +
                                           grouped(layout.bytes) + " bytes of shared memory need " +
                                           grouped(resident) + " an SM; " + target_.name + " has " +
                                           grouped(target_.shared_bytes_per_sm));
        }
        for (const StagedLevel& level : layout.levels) {
            const int width = std::min(schedule_.cells[0], 16 / size_of(level.type));
            if (is(Strategy::tile) || level.padding % width == 0) continue;
            limit(Setting::padding, "stream reads rows of shared memory " + std::to_string(width) +
                                        " elements at a time, so padding must be a multiple of " +
                                        std::to_string(width) + "; it is " + std::to_string(level.padding));
            break;
        }
    }

    std::array<int, 3> tile_cells() const {
        return {schedule_.tile(0), schedule_.tile(1), schedule_.tile(2)};
    }

    void check_registers() {
        const RegisterEstimate estimate = estimate_registers(footprint_, schedule_);
        if (estimate.held > target_.max_registers_per_thread) {
            limit(Setting::cells, lengths(schedule_.cells, footprint_.rank) + " cells a thread keep about " +
                                      grouped(estimate.held) + " registers in use; " + target_.name +
                                      " has " + grouped(target_.max_registers_per_thread) + " a thread");
            return;
        }
        const int share = register_limit(schedule_, target_);
        if (estimate.held <= share) return;
        const bool asked = schedule_.min_blocks > 1;
        limit(asked ? Setting::min_blocks : Setting::threads,
              counted(std::max(1, schedule_.min_blocks), "block") + " of " +
                  grouped(product(schedule_.threads)) + " threads leave " + grouped(share) +
                  " registers a thread on " + target_.name + "; " +
                  lengths(schedule_.cells, footprint_.rank) + " cells keep about " + grouped(estimate.held) +
                  " in use");
    }

    void check_blocks() {
        if (!extent_) return;
        for (int axis = 0; axis < footprint_.rank; ++axis) {
            const bool walked = is(Strategy::stream) && axis == footprint_.rank - 1;
            std::int64_t step = walked ? schedule_.planes : schedule_.tile(axis);
            if (walked && step == 0) continue;  // one block walks them all
            const std::int64_t blocks = ((*extent_)[axis] + step - 1) / step;
            if (blocks <= target_.max_blocks[axis]) continue;
            limit(walked ? Setting::planes : Setting::threads,
                  grouped((*extent_)[axis]) + " cells along the " + kAxisNames[axis] + " axis are " +
                      grouped(blocks) + " blocks of " + grouped(step) + "; " + target_.name + " allows " +
                      grouped(target_.max_blocks[axis]) + " along that axis");
        }
    }

    void add_notes() {
        const std::int64_t threads = product(schedule_.threads);
        if (threads % target_.warp != 0) {
            note(Setting::threads, grouped(threads) + " threads a block are no multiple of the " +
                                       std::to_string(target_.warp) +
                                       " of a warp: the last warp is part idle");
        }
        const RegisterEstimate estimate = estimate_registers(footprint_, schedule_);
        const int share = register_limit(schedule_, target_);
        if (estimate.expected > share) {
            note(schedule_.min_blocks > 1 ? Setting::min_blocks : Setting::cells,
                 "about " + grouped(estimate.expected) + " registers a thread would be of use and " +
                     grouped(share) + " are to be had: some values may be spilled to memory or loaded twice");
        }
    }

    const Footprint& footprint_;
    const Schedule& schedule_;
    const Target& target_;
    const std::optional<Extent>& extent_;
    std::vector<Reason> reasons_;
};

}  // namespace

std::vector<Reason> check(const Footprint& footprint, const Schedule& schedule, const Target& target,
                          const std::optional<Extent>& extent) {
    return Checker(footprint, schedule, target, extent).run();
}

std::vector<Reason> check(const ir::Program& program, const ir::Stage& stage, const Schedule& schedule,
                          const Target& target, const std::optional<Extent>& extent) {
    return check(footprint(program, stage), schedule, target, extent);
}

bool is_legal(const std::vector<Reason>& reasons) {
    return std::ranges::none_of(reasons, &Reason::limit);
}

}  // namespace halo::schedule
