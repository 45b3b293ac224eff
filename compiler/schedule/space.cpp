#include "compiler/schedule/space.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <string_view>

#include "compiler/schedule/cost.h"
#include "compiler/schedule/print.h"
#include "compiler/schedule/registers.h"
#include "compiler/schedule/shared_layout.h"

namespace halo::schedule {

namespace {

using Lengths = std::array<int, 3>;

constexpr int kLeastThreads = 64, kMostThreads = 1024;
constexpr int kMostCells = 64;       // of a thread
constexpr int kMostTileCells = 16;   // of a thread of a tile
constexpr int kEasyRegisters = 128;  // past these the estimate is a worse guide, and costs more
constexpr double kManyRegisters =
    1.5;  // what such a schedule's cost is multiplied by, and more the more they are
constexpr double kOtherLimit = 1.1;  // of one with another limit of registers than the usual
constexpr double kOtherWalk = 1.05;  // likewise of planes on their way, or turns unrolled
constexpr std::size_t kVariedWalks = 100;

class Lister {
public:
    Lister(const Footprint& footprint, const Target& target, const Extent& extent, const Pins& pins)
        : footprint_(footprint), target_(target), extent_(extent), pins_(pins) {}

    std::vector<Candidate> run(int most) {
        if (footprint_.at_points || footprint_.in_place) return {};
        const Choice chosen = choose(footprint_, target_, extent_, pins_);
        if (!legal(chosen.schedule)) return {};
        std::vector<Candidate> all{rated(chosen.schedule)};
        for (const Strategy strategy : strategies()) {
            found_.clear();
            list(strategy);
            sort_found();
            if (strategy == Strategy::stream) {
                vary_walks();
                sort_found();
            }
            if (std::ssize(found_) > most) found_.resize(static_cast<std::size_t>(most));
            for (Candidate& candidate : found_) {
                pad(candidate.schedule());
                if (!(candidate.schedule() == chosen.schedule)) all.push_back(std::move(candidate));
            }
        }
        sort_by_rank(all, 1);
        return all;
    }

private:
    void sort_found() { sort_by_rank(found_); }

    std::vector<Strategy> strategies() const {
        if (pins_.strategy) return {*pins_.strategy};
        return {Strategy::direct, Strategy::tile, Strategy::stream};
    }

    bool legal(const Schedule& schedule) const {
        return is_legal(check(footprint_, schedule, target_, extent_));
    }

    Candidate rated(const Schedule& schedule) const {
        if (footprint_.table_sums > 0)
            return {schedule, rank_table_sums(footprint_, schedule, target_, extent_), std::nullopt};
        const double seconds = estimate_cost(footprint_, schedule, target_, extent_).seconds_per_cell;
        const double registers = estimate_registers(footprint_, schedule).expected;
        const int easy =
            schedule.strategy == Strategy::stream ? register_limit(schedule, target_) : kEasyRegisters;
        const double crowded = registers > easy ? kManyRegisters * registers / easy : 1;
        return {schedule, seconds * crowded, seconds};
    }

    int axes(Strategy strategy) const { return footprint_.rank - (strategy == Strategy::stream ? 1 : 0); }

    void list(Strategy strategy) {
        if (axes(strategy) < 1) return;
        for (const Lengths& cells : boxes(strategy)) {
            for (const Lengths& threads : shapes(strategy, cells)) {
                for (const int chunk : chunks())
                    consider(strategy, threads, cells, chunk);
            }
        }
    }

    // Boxes of cells for a thread: vectors along the first axis, powers of two along the others.
    std::vector<Lengths> boxes(Strategy strategy) const {
        if (pins_.cells) return {*pins_.cells};
        std::vector<Lengths> boxes;
        const bool tile = strategy == Strategy::tile;
        const int most_y = axes(strategy) > 1 && footprint_.table_sums == 0 ? 8 : 1;
        const int most_z = axes(strategy) > 2 && footprint_.table_sums == 0 ? 8 : 1;
        for (int x = 1; x <= (tile ? 4 : 8); x *= 2) {
            for (int y = 1; y <= most_y; y *= 2) {
                for (int z = 1; z <= most_z; z *= 2)
                    if (x * y * z <= (tile ? kMostTileCells : kMostCells)) boxes.push_back({x, y, z});
            }
        }
        return boxes;
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
        std::vector<Lengths> shapes;
        for (int x = axes(strategy) == 1 ? kLeastThreads : 8; x <= 512; x *= 2) {
            for (int y = 1; y <= (axes(strategy) > 1 ? 32 : 1); y *= 2) {
                for (int z = 1; z <= (axes(strategy) > 2 ? 8 : 1); z *= 2) {
                    const int threads = x * y * z;
                    if (threads >= kLeastThreads && threads <= kMostThreads) shapes.push_back({x, y, z});
                }
            }
        }
        return shapes;
    }

    std::vector<int> plane_counts(const Schedule& schedule) const {
        if (schedule.strategy != Strategy::stream) return {0};
        if (pins_.planes) return {*pins_.planes};
        return walk_lengths(footprint_, schedule, target_, extent_);
    }

    std::vector<int> chunks() const {
        if (pins_.chunk) return {*pins_.chunk};
        if (footprint_.table_sums == 0) return {0};
        return {0, 64, 128, 512};
    }

    // Blocks an SM that registers are limited for: what choose() would take, and fewer and more around it.
    std::vector<int> block_counts(const Schedule& schedule) const {
        if (pins_.min_blocks) return {*pins_.min_blocks};
        const int usual = usual_min_blocks(footprint_, schedule, target_);
        std::set<int> counts{usual, usual - 1, usual + 1, usual / 2, 2 * usual};
        counts.erase(counts.begin(), counts.lower_bound(1));
        return {counts.begin(), counts.end()};
    }

    void consider(Strategy strategy, const Lengths& threads, const Lengths& cells, int chunk) {
        Schedule schedule;
        schedule.strategy = strategy;
        schedule.threads = threads;
        schedule.cells = cells;
        schedule.chunk = chunk;
        schedule.ahead = pins_.ahead.value_or(0);
        schedule.unroll = pins_.unroll.value_or(0);
        schedule.shared_padding = pins_.padding.value_or(0);
        if (!legal(schedule)) return;
        const int usual = usual_min_blocks(footprint_, schedule, target_);
        for (const int blocks : block_counts(schedule)) {
            schedule.min_blocks = blocks;
            for (const int planes : plane_counts(schedule)) {
                schedule.planes = planes;
                if (!legal(schedule)) continue;
                found_.push_back(rated(schedule));
                if (blocks != usual) found_.back().rank *= kOtherLimit;
            }
        }
    }

    // The best walks with other planes on their way and less unrolled, of which the model knows nothing.
    void vary_walks() {
        const std::size_t varied = std::min(found_.size(), kVariedWalks);
        const auto add = [&](const Candidate& like, int Schedule::* setting, int value) {
            Candidate other = like;
            other.schedule().*setting = value;
            if (!legal(other.schedule())) return;
            other.rank *= kOtherWalk;
            found_.push_back(std::move(other));
        };
        for (std::size_t i = 0; i < varied; ++i) {
            const Candidate like = found_[i];
            for (const int ahead : {2, 4, 6})
                if (!pins_.ahead) add(like, &Schedule::ahead, ahead);
            if (!pins_.unroll) add(like, &Schedule::unroll, 1);
        }
    }

    void pad(Schedule& schedule) const {
        if (schedule.strategy == Strategy::direct || pins_.padding) return;
        Schedule padded = schedule;
        padded.shared_padding = choose_padding(footprint_, schedule).elements;
        if (legal(padded)) schedule = padded;
    }

    const Footprint& footprint_;
    const Target& target_;
    const Extent& extent_;
    const Pins& pins_;
    std::vector<Candidate> found_;
};

// "4x2x4" → 2, 1, 2.
std::vector<double> powers(std::string_view lengths) {
    std::vector<double> powers;
    while (!lengths.empty()) {
        const std::string_view digits = lengths.substr(0, lengths.find('x'));
        lengths.remove_prefix(std::min(lengths.size(), digits.size() + 1));
        int length = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), length);
        powers.push_back(std::log2(std::max(1, length)));
    }
    return powers;
}

double sum_of_differences(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
        sum += std::abs((i < a.size() ? a[i] : 0) - (i < b.size() ? b[i] : 0));
    return sum;
}

}  // namespace

// Not by std::stable_sort, of which g++ 12 believes that it moves candidates that were never made.
void sort_by_rank(std::vector<Candidate>& candidates, std::size_t first) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = first; i < candidates.size(); ++i)
        order.emplace_back(candidates[i].rank, i);
    std::ranges::sort(order);
    std::vector<Candidate> sorted;
    for (const auto& [rank, index] : order)
        sorted.push_back(std::move(candidates[index]));
    std::ranges::move(sorted, candidates.begin() + static_cast<std::ptrdiff_t>(first));
}

std::vector<Candidate> list_candidates(const Footprint& footprint, const Target& target, const Extent& extent,
                                       const Pins& pins, int most) {
    return Lister(footprint, target, extent, pins).run(most);
}

std::string print(const Candidate& candidate, int rank) {
    const Grouping* const grouping = candidate.grouping();
    return grouping != nullptr ? print(*grouping, rank) : print(candidate.schedule(), rank);
}

// Those of groupings are below zero, beside those of stages' strategies.
int family_of(const Candidate& candidate) {
    const Grouping* const grouping = candidate.grouping();
    return grouping != nullptr ? -1 - static_cast<int>(grouping->index())
                               : static_cast<int>(candidate.schedule().strategy);
}

Place place_of(const Candidate& candidate, int rank) {
    Place place{family_of(candidate), {}};
    const std::string words = print(candidate, rank);
    std::string_view text = words;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        const std::size_t equals = word.find('=');
        if (equals == std::string_view::npos) continue;
        place.settings.emplace_back(word.substr(0, equals), powers(word.substr(equals + 1)));
    }
    std::sort(place.settings.begin(), place.settings.end());
    return place;
}

double distance(const Place& a, const Place& b) {
    if (a.family != b.family) return std::numeric_limits<double>::infinity();
    double sum = 0;
    auto one = a.settings.begin();
    auto other = b.settings.begin();
    while (one != a.settings.end() || other != b.settings.end()) {
        if (other == b.settings.end() || (one != a.settings.end() && one->first < other->first)) {
            sum += 1 + sum_of_differences((one++)->second, {});
        } else if (one == a.settings.end() || other->first < one->first) {
            sum += 1 + sum_of_differences((other++)->second, {});
        } else {
            sum += sum_of_differences((one++)->second, (other++)->second);
        }
    }
    return sum;
}

int steps_of(const Candidate& candidate) {
    return candidate.grouping() != nullptr ? steps_at_once(*candidate.grouping()) : 1;
}

Schedule plain_schedule(const Footprint& footprint, const Target& target) {
    Schedule plain;
    plain.threads = footprint.rank == 1 ? Lengths{128, 1, 1} : Lengths{32, 4, 1};
    if (!footprint.at_points && is_legal(check(footprint, plain, target))) return plain;
    return choose(footprint, target).schedule;
}

}  // namespace halo::schedule
