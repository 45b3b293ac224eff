#include "compiler/schedule/legality.h"

#include <algorithm>

#include "compiler/ir/print.h"
#include "compiler/schedule/fuse.h"
#include "compiler/schedule/registers.h"
#include "compiler/schedule/shared_layout.h"
#include "compiler/schedule/strategies.h"
#include "compiler/schedule/strategy_parts.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

namespace {

constexpr int kVectorWidths[] = {1, 2, 4};  // that the prelude has loads and stores of
constexpr const char* kAxisNames[] = {"first", "second", "third"};

std::int64_t product(const rt::Lengths& values) {
    return std::int64_t{values[0]} * values[1] * values[2];
}

class Checker {
public:
    Checker(const Footprint& footprint, const Schedule& schedule, const Target& target,
            const std::optional<Extent>& extent, const Pins& pins)
        : footprint_(footprint),
          schedule_(schedule),
          kind_(kind_of(schedule)),
          target_(target),
          extent_(extent),
          pins_(pins) {}

    std::vector<Reason> run() {
        check_stage();
        check_shape();
        check_pins();
        check_threads();
        check_cells();
        if (kind_.check != nullptr)
            std::ranges::copy(kind_.check(footprint_, schedule_, target_), std::back_inserter(reasons_));
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

    // What the stage needs of the strategy.
    void check_stage() {
        const Refusals& refusals = kind_.refusals;
        const auto refuse = [&](std::string_view sentence, std::string_view type = "") {
            if (!sentence.empty()) limit(Setting::strategy, in_words(sentence, kind_.name, type));
        };
        if (footprint_.in_place) refuse(refusals.in_place);
        if (const auto narrow = footprint_.narrow_storage())
            refuse(refusals.narrow_storage, ir::name_of(*narrow));
        if (footprint_.interleaved) refuse(refusals.interleaved);
        if (footprint_.table_sums > 0) refuse(refusals.table_sums);
        if (footprint_.of_several_grids) refuse(refusals.several_grids);
        if (footprint_.rank > kMostAxesOfTile) refuse(refusals.four_axes);
        std::int64_t cells = product(schedule_.cells);
        if (footprint_.swept_within) {
            for (int axis = 0; axis < footprint_.rank; ++axis)
                if (!footprint_.sweeps_along(axis) && schedule_.threads[axis] != 1)
                    limit(Setting::threads, std::to_string(schedule_.threads[axis]) + " threads along the " +
                                                kAxisNames[axis] +
                                                " axis: a sweep along the two others has a block for each "
                                                "plane");
        } else if (footprint_.swept_axis) {
            const auto axis = static_cast<std::size_t>(*footprint_.swept_axis);
            if (footprint_.part_bytes && schedule_.threads[axis] > 1) {
                cells /= std::max(1, schedule_.cells[axis]);
                check_parts();
            } else if (schedule_.threads[axis] != 1)
                limit(Setting::threads, std::to_string(schedule_.threads[axis]) + " threads along the " +
                                            kAxisNames[axis] +
                                            " axis: a sweep goes along it with one thread for each line");
        }
        if (footprint_.in_place && cells != 1)
            limit(Setting::cells, "what changes a field in place has one cell a thread");
    }

    void check_parts() {
        const auto along = static_cast<std::size_t>(*footprint_.swept_axis);
        const std::size_t across = along == 0 ? 1 : 0;
        for (std::size_t axis = 0; axis < 3; ++axis)
            if (axis != along && axis != across && schedule_.threads[axis] != 1)
                limit(Setting::threads, "a block has the parts of lines beside each other along the " +
                                            std::string(kAxisNames[across]) + " axis");
        // Along the first axis the places of parts lie an odd number of elements apart.
        const std::int64_t lines = schedule_.threads[across] + (along == 0 ? 1 : 0);
        const std::int64_t bytes = schedule_.threads[along] * lines * *footprint_.part_bytes;
        if (bytes > target_.static_shared_bytes)
            limit(Setting::threads, "parts of lines take " + grouped(bytes) +
                                        " bytes of shared memory; there are " +
                                        grouped(target_.static_shared_bytes));
    }

    void check_shape() {
        const int rank = footprint_.rank;
        if (kind_.streams && rank < 2)
            limit(Setting::strategy,
                  std::string(kind_.name) +
                      " traverses the slowest of two or three axes; this program has 1 axis");
        for (int axis = spread_axes(kind_, rank); axis < 3; ++axis) {
            const bool streamed = axis < rank;
            if (schedule_.threads[axis] != 1) limit(Setting::threads, past_rank("threads", axis, streamed));
            if (schedule_.cells[axis] != 1) limit(Setting::cells, past_rank("cells", axis, streamed));
        }
        if (own_setting(schedule_, Setting::padding).value_or(0) < 0)
            limit(Setting::padding, "padding cannot be negative");
        if (schedule_.min_blocks < 0) limit(Setting::min_blocks, "min_blocks cannot be negative");
    }

    void check_pins() {
        for (int each = 0; each < kSettings; ++each) {
            const auto setting = static_cast<Setting>(each);
            if (pins_.own(setting) && !own_setting(schedule_, setting))
                limit(setting, why_not_own(schedule_, setting));
        }
    }

    std::string past_rank(const std::string& what, int axis, bool streamed) const {
        const int value = what == "threads" ? schedule_.threads[axis] : schedule_.cells[axis];
        const std::string given =
            std::to_string(value) + " " + what + " along the " + kAxisNames[axis] + " axis";
        if (streamed) return given + ": " + std::string(kind_.name) + " traverses that axis and has 1 there";
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
        const std::int64_t most = kind_.most_cells;
        const std::int64_t cells = product(schedule_.cells);
        if (cells > most) {
            limit(Setting::cells, lengths(schedule_.cells, footprint_.rank) + " cells are " + grouped(cells) +
                                      " a thread; " + std::string(kind_.name) + " allows " + grouped(most));
        }
    }

    void check_vector() {
        if (footprint_.table_sums > 0 || !kind_.takes_vectors) return;
        const int width = schedule_.cells[0];
        if (footprint_.interleaved && width > 1) {
            limit(Setting::cells,
                  "a thread's cells along the first axis are loaded as one vector, and with `layout aos` a "
                  "component's cells do not lie side by side; give 1 along the first axis");
            return;
        }
        if (width == kCellsOfBytes && kind_.packs_bytes && is_of_bytes(footprint_)) return;
        if (std::ranges::find(kVectorWidths, width) == std::end(kVectorWidths)) {
            limit(Setting::cells,
                  "a thread's cells along the first axis are one vector, of 1, 2 or 4" +
                      std::string(kind_.packs_bytes && is_of_bytes(footprint_) ? ", or 8" : "") + "; not " +
                      std::to_string(width));
        }
    }

    void check_shared() {
        const SharedLayout layout = make_shared_layout(footprint_, schedule_);
        if (layout.bytes > target_.max_shared_bytes) {
            limit(kind_.streams ? Setting::threads : Setting::tile,
                  std::string(kind_.staged) + " of " + lengths(tile_cells(), footprint_.rank) +
                      " cells and its halo need " + grouped(layout.bytes) + " bytes of shared memory; " +
                      target_.name + " allows " + grouped(target_.max_shared_bytes) + " a block");
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
            if (!kind_.pads_whole_vectors || level.padding % width == 0) continue;
            limit(Setting::padding, std::string(kind_.name) + " reads rows of shared memory " +
                                        std::to_string(width) +
                                        " elements at a time, so padding must be a multiple of " +
                                        std::to_string(width) + "; it is " + std::to_string(level.padding));
            break;
        }
    }

    rt::Lengths tile_cells() const { return {schedule_.tile(0), schedule_.tile(1), schedule_.tile(2)}; }

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
        for (int axis = 0; axis < std::min(footprint_.rank, kMostAxesOfTile); ++axis) {
            const bool streamed = axis == streaming_axis(schedule_, footprint_.rank);
            const std::int64_t step = block_length(schedule_, footprint_.rank, axis, (*extent_)[axis]);
            std::int64_t blocks = ((*extent_)[axis] + step - 1) / step;
            if (axis == 2) blocks *= (*extent_)[3];  // those of all volumes (rt::blocks_of)
            if (blocks <= target_.max_blocks[axis]) continue;
            limit(streamed ? Setting::planes : Setting::threads,
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
        if (own_setting(schedule_, Setting::fuse).value_or(0) > 0 && !can_share_launch(footprint_))
            note(Setting::fuse,
                 "a stage that reduces, sums over tables or is at points has a launch of its own");
        const RegisterEstimate estimate = estimate_registers(footprint_, schedule_);
        const int share = register_limit(schedule_, target_);
        if (estimate.enough > share) {
            note(schedule_.min_blocks > 1 ? Setting::min_blocks : Setting::cells,
                 "about " + grouped(estimate.enough) + " registers a thread would be of use and " +
                     grouped(share) + " are to be had: some values may be spilled to memory or loaded twice");
        }
    }

    const Footprint& footprint_;
    const Schedule& schedule_;
    const StrategyKind& kind_;
    const Target& target_;
    const std::optional<Extent>& extent_;
    const Pins& pins_;
    std::vector<Reason> reasons_;
};

}  // namespace

std::vector<Reason> check(const Footprint& footprint, const Schedule& schedule, const Target& target,
                          const std::optional<Extent>& extent, const Pins& pins) {
    std::optional<Extent> own;
    if (extent) own = own_extent(footprint, *extent);
    return Checker(footprint, schedule, target, own, pins).run();
}

std::vector<Reason> check(const ir::Program& program, const ir::Stage& stage, const Schedule& schedule,
                          const Target& target, const std::optional<Extent>& extent, const Pins& pins) {
    return check(footprint(program, stage), schedule, target, extent, pins);
}

bool is_legal(const std::vector<Reason>& reasons) {
    return std::ranges::none_of(reasons, &Reason::limit);
}

}  // namespace halo::schedule
