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
#include "compiler/schedule/strategies.h"
#include "compiler/schedule/sweep_model.h"

namespace halo::schedule {

namespace {

using rt::Lengths;

constexpr int kLeastThreads = 64, kMostThreads = 1024;
constexpr std::size_t kMostVaried = 100;  // schedules of a strategy whose other settings are varied

class CandidateLister {
public:
    CandidateLister(const Footprint& footprint, const Target& target, const Extent& extent, const Pins& pins)
        : footprint_(footprint),
          target_(target),
          extent_(extent),
          pins_(pins),
          context_{footprint, target, extent_, extent, pins} {}

    std::vector<Candidate> run(int most) {
        if (footprint_.at_points || footprint_.in_place) return {};
        const Choice chosen = choose(footprint_, target_, extent_, pins_);
        if (!legal(chosen.schedule)) return {};
        std::vector<Candidate> all{rated(chosen.schedule)};
        for (const StrategyKind& kind : strategy_kinds()) {
            if (pins_.strategy ? &kind != &kind_of(*pins_.strategy) : !has_pinned_settings(kind, pins_))
                continue;
            found_.clear();
            list(kind);
            sort_found();
            if (kind.vary != nullptr) {
                vary_best(kind);
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

    bool legal(const Schedule& schedule) const {
        return is_legal(check(footprint_, schedule, target_, extent_));
    }

    Candidate rated(const Schedule& schedule) const {
        if (footprint_.table_sums > 0)
            return {schedule, rank_table_sums(footprint_, schedule, target_, *extent_), std::nullopt};
        const double seconds = estimate_cost(footprint_, schedule, target_, *extent_).seconds_per_cell;
        const double registers = estimate_registers(footprint_, schedule).expected;
        const int easy = kind_of(schedule).easy_registers(schedule, target_);
        const double crowded = registers > easy ? sweep_model::kManyRegisters * registers / easy : 1;
        return {schedule, seconds * crowded, seconds};
    }

    void list(const StrategyKind& kind) {
        for (const Lengths& cells : boxes(kind))
            for (const Lengths& threads : shapes(kind, cells))
                for (const int chunk : chunks())
                    consider(kind, threads, cells, chunk);
    }

    // Boxes of cells for a thread: vectors along the first axis, powers of two along the others.
    std::vector<Lengths> boxes(const StrategyKind& kind) const {
        if (pins_.cells) return {*pins_.cells};
        const int axes = spread_axes(kind, footprint_.rank);
        std::vector<Lengths> boxes;
        const int most_y = axes > 1 && footprint_.table_sums == 0 ? 8 : 1;
        const int most_z = axes > 2 && footprint_.table_sums == 0 ? 8 : 1;
        for (int x = 1; x <= kind.listed_vector; x *= 2) {
            for (int y = 1; y <= most_y; y *= 2) {
                for (int z = 1; z <= most_z; z *= 2)
                    if (x * y * z <= kind.listed_cells) boxes.push_back({x, y, z});
            }
        }
        return boxes;
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
        std::vector<Lengths> shapes;
        const int axes = spread_axes(kind, footprint_.rank);
        for (int x = axes == 1 ? kLeastThreads : 8; x <= 512; x *= 2) {
            for (int y = 1; y <= (axes > 1 ? 32 : 1); y *= 2) {
                for (int z = 1; z <= (axes > 2 ? 8 : 1); z *= 2) {
                    const int threads = x * y * z;
                    if (threads >= kLeastThreads && threads <= kMostThreads) shapes.push_back({x, y, z});
                }
            }
        }
        return shapes;
    }

    std::vector<Schedule> shared_out(const StrategyKind& kind, const Schedule& schedule) const {
        return kind.share_out == nullptr ? std::vector{schedule} : kind.share_out(schedule, context_);
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

    void consider(const StrategyKind& kind, const Lengths& threads, const Lengths& cells, int chunk) {
        Schedule schedule;
        schedule.strategy = kind.neutral;
        schedule.threads = threads;
        schedule.cells = cells;
        set_pinned(schedule, pins_);
        set_own(schedule, Setting::chunk, chunk);
        set_own(schedule, Setting::planes, 0);  // share_out() says them
        if (!legal(schedule)) return;
        const int usual = usual_min_blocks(footprint_, schedule, target_);
        for (const int blocks : block_counts(schedule)) {
            schedule.min_blocks = blocks;
            for (const Schedule& shared : shared_out(kind, schedule)) {
                if (!legal(shared)) continue;
                found_.push_back(rated(shared));
                if (blocks != usual) found_.back().rank *= sweep_model::kOtherLimit;
            }
        }
    }

    // Adds variants of the best schedules, with other values of settings that the model cannot rank.
    void vary_best(const StrategyKind& kind) {
        const std::size_t varied = std::min(found_.size(), kMostVaried);
        for (std::size_t i = 0; i < varied; ++i) {
            const Candidate like = found_[i];
            for (const Schedule& other : kind.vary(like.schedule(), pins_)) {
                if (!legal(other)) continue;
                found_.push_back(like);
                found_.back().schedule() = other;
                found_.back().rank *= sweep_model::kOtherSettings;
            }
        }
    }

    void pad(Schedule& schedule) const {
        if (kind_of(schedule).stage == nullptr || pins_.padding) return;
        Schedule padded = schedule;
        set_own(padded, Setting::padding, choose_padding(footprint_, schedule).elements);
        if (legal(padded)) schedule = padded;
    }

    const Footprint& footprint_;
    const Target& target_;
    const std::optional<Extent> extent_;
    const Pins& pins_;
    ChoiceContext context_;
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
    return CandidateLister(footprint, target, extent, pins).run(most);
}

std::string print(const Candidate& candidate, int rank) {
    const Grouping* const grouping = candidate.grouping();
    return grouping != nullptr ? print(*grouping, rank) : print(candidate.schedule(), rank);
}

// Negative for groupings, so that the families of strategies keep their numbers.
int family_of(const Candidate& candidate) {
    const Grouping* const grouping = candidate.grouping();
    return grouping != nullptr ? -1 - static_cast<int>(grouping->index())
                               : static_cast<int>(candidate.schedule().strategy.index());
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
