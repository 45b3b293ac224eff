#include "compiler/schedule/defaults.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compiler/schedule/cost.h"
#include "compiler/schedule/direct_model.h"
#include "compiler/schedule/registers.h"
#include "compiler/schedule/shared_layout.h"
#include "compiler/schedule/strategy_parts.h"
#include "compiler/schedule/sweep_model.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

namespace {

using rt::Lengths;

// Factors on the cost of a candidate past the register budget: for each register that is expected, and where
// its block is so large that a thread cannot have all that there are. The last stage of navier_stokes3d on
// 256 cells cubed: 4.4 GStencil/s by a block of 256 threads an SM, 2.7 by one of 512, which spills.
constexpr double kLastResort = 1e3, kLimited = 4;

// Sums, a row and values that are the same for all rows stay in registers.
int blocks_for_tables(const Schedule& schedule, const Target& target) {
    const int threads = schedule.threads[0] * schedule.threads[1] * schedule.threads[2];
    return std::clamp(target.registers_per_sm / (direct_model::kTableRegisters * threads), 1,
                      target.max_blocks_per_sm);
}

// The relative time for each cell and row. Where tables are summed the work is in their rows: a thread's
// cells share the load of a row, and there must be enough blocks to keep all SMs busy to the end.
double table_weight(const Footprint& footprint, const Schedule& schedule, const Target& target,
                    const Extent& grid) {
    double blocks = 1, cells = 1, block_cells = 1;
    for (int axis = 0; axis < footprint.rank; ++axis) {
        const auto extent = static_cast<double>(grid[axis]);
        blocks *= std::ceil(extent / schedule.tile(axis));
        cells *= extent;
        block_cells *= schedule.tile(axis);
    }
    const double warps = std::ceil(schedule.threads[0] * schedule.threads[1] * schedule.threads[2] / 32.0);
    const double busiest = std::ceil(blocks / target.sms);
    const double idle = std::max(1.0, direct_model::kWarpsToFillUnits / (busiest * warps));
    return busiest * target.sms * block_cells / cells * (1 + direct_model::kRowLoad / schedule.cells[0]) *
           std::sqrt(idle);
}

// The pinned strategy; else those that have all pinned settings, and of these the likely ones.
std::vector<const StrategyKind*> kinds_to_try(const Footprint& footprint, const Pins& pins) {
    if (pins.strategy) return {&kind_of(*pins.strategy)};
    std::vector<const StrategyKind*> able, likely;
    for (const StrategyKind& kind : strategy_kinds()) {
        if (footprint.table_sums > 0 && !kind.refusals.table_sums.empty()) continue;
        if (footprint.of_several_grids && !kind.refusals.several_grids.empty()) continue;
        if (footprint.rank > kMostAxesOfTile && !kind.refusals.four_axes.empty()) continue;
        const bool has_all = has_pinned_settings(kind, pins);
        if (has_all && !(kind.streams && footprint.rank < 2)) able.push_back(&kind);
        if (has_all && kind.is_likely(footprint, pins)) likely.push_back(&kind);
    }
    if (able.empty()) return {&strategy_kinds().front()};
    // The most particular first: of candidates that cost the same the earlier one wins.
    std::ranges::reverse(likely);
    return likely.empty() ? able : likely;
}

// Blocks an SM to limit registers for. Always set: left to itself the compiler may spill values to fit more
// blocks. A thread gets what it is expected to need and a margin.
int blocks_for_budget(const Footprint& footprint, const Schedule& schedule, const Target& target) {
    const RegisterEstimate estimate = estimate_registers(footprint, schedule);
    if (footprint.part_bytes && schedule.threads[static_cast<std::size_t>(*footprint.swept_axis)] > 1)
        return std::max(1, target.registers_per_sm / (estimate.expected * schedule.threads[0] *
                                                      schedule.threads[1] * schedule.threads[2]));
    // Cells of a finer grid, with the neighbours that are read of each, are no part of the estimate.
    const auto finer = static_cast<int>(std::min<std::int64_t>(footprint.finer_bytes, kRegisterBudget));
    const std::int64_t threads =
        std::int64_t{schedule.threads[0]} * schedule.threads[1] * schedule.threads[2];
    if (finer == kRegisterBudget) return 1;
    if (estimate.enough > kRegisterBudget) {
        if (kind_of(schedule).streams) return 1;  // whose planes are on their way while it computes
        const std::int64_t all = threads * (target.max_registers_per_thread + 1);
        return static_cast<int>(std::max<std::int64_t>(1, target.registers_per_sm / all));
    }
    // The many loads of a single cell are hidden by more warps, as it shares none with other cells.
    const bool is_single = schedule.cells[0] * schedule.cells[1] * schedule.cells[2] == 1;
    const bool has_many = estimate.enough > direct_model::kManyOfSingle;
    const double expected = is_single && has_many
                                ? std::max(direct_model::kRegistersOfSingle,
                                           direct_model::kSpareOfRow + words_of_results(footprint))
                                : sweep_model::kRegisterMargin * estimate.expected;
    const int wanted = static_cast<int>(expected) + sweep_model::kSpareRegisters + finer;
    const int least = kind_of(schedule).least_registers(schedule);
    const int registers = std::clamp(wanted, least, kRegisterBudget);
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
          grid_(extent ? *extent : typical_extent(footprint.rank)),
          context_{footprint, target, extent, grid_, pins} {}

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
            ranked_, [&](const Ranked& ranked) { return ranked.weight <= sweep_model::kTie * least; });
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
        for (const StrategyKind* const kind : kinds_to_try(footprint_, pins_))
            for (const Lengths& cells :
                 pins_.cells ? std::vector<Lengths>{*pins_.cells} : kind->cells(footprint_))
                for (const Lengths& threads : shapes(*kind, cells))
                    consider(*kind, cells, threads);
    }

    std::vector<Lengths> shapes(const StrategyKind& kind, const Lengths& cells) const {
        if (pins_.threads) return {*pins_.threads};
        if (pins_.tile) {
            Lengths threads{};
            for (int axis = 0; axis < 3; ++axis) {
                if ((*pins_.tile)[axis] % cells[axis] != 0) return {};
                threads[axis] = (*pins_.tile)[axis] / cells[axis];
            }
            return {threads};
        }
        return kind.threads(footprint_);
    }

    void consider(const StrategyKind& kind, const Lengths& cells, const Lengths& threads) {
        Schedule schedule;
        schedule.strategy = kind.neutral;
        schedule.cells = cells;
        schedule.threads = threads;
        set_pinned(schedule, pins_);
        set_own(schedule, Setting::planes, 0);  // share_out() says them
        const bool tables = footprint_.table_sums > 0;
        schedule.min_blocks = pins_.min_blocks.value_or(
            tables ? blocks_for_tables(schedule, target_) : blocks_for_budget(footprint_, schedule, target_));
        if (kind.settle != nullptr) kind.settle(schedule, context_);
        if (kind.share_out == nullptr) return rank(schedule);
        for (const Schedule& shared : kind.share_out(schedule, context_))
            rank(shared);
    }

    void rank(const Schedule& schedule) {
        const bool tables = footprint_.table_sums > 0;
        if (!first_) first_ = schedule;
        if (!is_legal(check(footprint_, schedule, target_, extent_, pins_))) return;
        if (tables) {
            ranked_.push_back({schedule, table_weight(footprint_, schedule, target_, grid_)});
            return;
        }
        const StrategyKind& kind = kind_of(schedule);
        const int budget = static_cast<int>(kind.tightest * kind.easy_registers(schedule, target_));
        const RegisterEstimate registers = estimate_registers(footprint_, schedule);
        const double cost = estimate_cost(footprint_, schedule, target_, grid_).seconds_per_cell;
        double factor = 1;
        if (registers.enough > budget) {
            const int most = std::min(registers.enough, target_.max_registers_per_thread);
            const bool is_limited = register_limit(schedule, target_) < most;
            factor = kLastResort * registers.expected * (is_limited ? kLimited : 1);
        }
        ranked_.push_back({schedule, cost * factor});
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
        if (kind_of(schedule).stage == nullptr || pins_.padding) return "";
        const Padding padding = choose_padding(footprint_, schedule);
        Schedule padded = schedule;
        set_own(padded, Setting::padding, padding.elements);
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
    ChoiceContext context_;
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
    std::string text = neighbours() + ": ";
    text += kind_of(schedule).reason(footprint_, schedule);
    if (extent_) {
        text += "; " + counted(cost.blocks, "block") + " on " + grouped(target_.sms) + " SMs";
    } else {
        text += "; for a large grid, as none is given";
    }
    return text + "; bound by " + name_of(cost.bound);
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

double rank_table_sums(const Footprint& footprint, const Schedule& schedule, const Target& target,
                       const Extent& grid) {
    return table_weight(footprint, schedule, target, grid);
}

}  // namespace halo::schedule
