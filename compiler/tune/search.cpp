#include "compiler/tune/search.h"

#include <algorithm>
#include <map>

namespace halo::tune {

namespace {

constexpr std::size_t kLookAhead = 16;  // candidates that are compiled in advance
constexpr int kExploreEvery = 3;
constexpr int kDroppedForSlow = 4;

class Search {
public:
    Search(const std::vector<schedule::Candidate>& candidates, int rank, Measure& measure,
           const std::vector<std::optional<Outcome>>& known, const SearchOptions& options)
        : candidates_(candidates), measure_(measure), options_(options) {
        result_.outcomes = known;
        result_.outcomes.resize(candidates.size());
        for (const schedule::Candidate& candidate : candidates)
            places_.push_back(schedule::place_of(candidate, rank));
        prune();
        penalties_.assign(candidates.size(), 1);
        for (std::size_t i = 0; i < candidates.size(); ++i)
            if (result_.outcomes[i]) mark_tried(i);
    }

    SearchResult run() {
        if (candidates_.empty()) return std::move(result_);
        take_best_known();
        if (!result_.outcomes[0]) try_one(0);
        result_.stop = walk();
        if (best_ && result_.stop != SearchResult::Stop::interrupted) finish();
        if (best_ && !result_.winner) {
            result_.winner = best_;
            result_.seconds = best_seconds_;
            result_.first_seconds = seconds_of(0);
        }
        return std::move(result_);
    }

private:
    // Leaves out candidates that are ranked far worse than their strategy's best. The first is never left
    // out.
    void prune() {
        std::map<int, double> least;
        for (const schedule::Candidate& candidate : candidates_) {
            const auto [entry, is_new] = least.try_emplace(schedule::family_of(candidate), candidate.rank);
            if (!is_new) entry->second = std::min(entry->second, candidate.rank);
        }
        pruned_.resize(candidates_.size());
        for (std::size_t i = 1; i < candidates_.size(); ++i) {
            pruned_[i] = candidates_[i].rank > options_.prune_ratio * least[family(i)];
        }
    }

    int family(std::size_t i) const { return places_[i].family; }

    std::vector<bool> near(std::size_t i) const {
        std::vector<bool> is_neighbour(candidates_.size());
        for (std::size_t n = 0; n < candidates_.size(); ++n)
            is_neighbour[n] = schedule::distance(places_[i], places_[n]) <= options_.neighbour_distance;
        return is_neighbour;
    }

    // Multiplies the factors of the candidate's neighbours.
    void mark(std::vector<double>& factors, std::size_t i, double factor) const {
        const std::vector<bool> is_neighbour = near(i);
        for (std::size_t n = 0; n < factors.size(); ++n)
            if (is_neighbour[n]) factors[n] = std::max(factors[n], factor);
    }
    void mark_tried(std::size_t i) {
        mark(penalties_, i,
             result_.outcomes[i]->timed() ? options_.neighbour_penalty : options_.failed_neighbour_penalty);
    }

    std::optional<double> seconds_of(std::size_t i) const {
        const std::optional<Outcome>& outcome = result_.outcomes[i];
        if (!outcome || outcome->kind != Outcome::Kind::measured) return std::nullopt;
        return outcome->seconds;
    }

    void take_best_known() {
        while (const std::optional<std::size_t> best = fastest()) {
            if (accept(*best)) return;
        }
    }

    std::optional<std::size_t> fastest() const {
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            if (seconds_of(i) && (!best || *seconds_of(i) < *seconds_of(*best))) best = i;
        }
        return best;
    }

    // Verifies the candidate, and makes it the best where its results are right.
    bool accept(std::size_t i) {
        if (std::optional<Outcome> trouble = measure_.verify(i)) {
            result_.outcomes[i] = std::move(trouble);
            measure_.tried(i, *result_.outcomes[i], best_);
            return false;
        }
        best_ = i;
        best_seconds_ = *seconds_of(i);
        is_neighbour_ = near(i);
        return true;
    }

    void try_one(std::size_t i) {
        const Outcome outcome = measure_.measure(i, best_seconds_);
        result_.outcomes[i] = outcome;
        mark_tried(i);
        ++result_.trials;
        ++since_better_;
        const bool first_or_less = outcome.kind == Outcome::Kind::measured && outcome.seconds < best_seconds_;
        if (!first_or_less) return measure_.tried(i, outcome, best_);
        const double before = best_seconds_;
        if (!accept(i)) return;
        if (best_seconds_ < (1 - options_.least_gain) * before) since_better_ = 0;
        measure_.tried(i, outcome, best_);
    }

    SearchResult::Stop walk() {
        for (int trial = 1;; ++trial) {
            if (measure_.interrupted()) return SearchResult::Stop::interrupted;
            if (measure_.budget_is_spent()) return SearchResult::Stop::budget;
            if (since_better_ >= options_.patience) return SearchResult::Stop::settled;
            const std::vector<std::size_t> next = upcoming(trial);
            if (next.empty()) return SearchResult::Stop::exhausted;
            measure_.prepare(next);
            try_one(next.front());
        }
    }

    // Lists the next candidates as they would be tried if none of them became the best.
    std::vector<std::size_t> upcoming(int trial) const {
        std::vector<std::size_t> near = neighbours(), others = by_strategy(trial);
        std::vector<std::size_t> next;
        std::vector<bool> named(candidates_.size());
        const auto take = [&](std::vector<std::size_t>& from, std::size_t& at) {
            while (at < from.size() && named[from[at]])
                ++at;
            if (at == from.size()) return false;
            next.push_back(from[at]);
            named[from[at++]] = true;
            return true;
        };
        std::size_t at_near = 0, at_others = 0;
        for (; next.size() < kLookAhead; ++trial) {
            const bool explore = trial % kExploreEvery == 0;
            if (explore ? take(others, at_others) || take(near, at_near)
                        : take(near, at_near) || take(others, at_others))
                continue;
            break;
        }
        return next;
    }

    bool open(std::size_t i) const { return !result_.outcomes[i] && !pruned_[i] && !given_up(family(i)); }

    // Lists untried candidates near the best, by rank.
    std::vector<std::size_t> neighbours() const {
        std::vector<std::size_t> near;
        if (!best_) return near;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            if (is_neighbour_[i] && open(i)) near.push_back(i);
        }
        std::stable_sort(near.begin(), near.end(), [&](std::size_t a, std::size_t b) {
            return candidates_[a].rank < candidates_[b].rank;
        });
        return near;
    }

    // Lists untried candidates, one of each strategy in rotation, by rank; neighbours of those that were
    // tried or listed come later.
    std::vector<std::size_t> by_strategy(int trial) const {
        std::map<int, std::vector<std::size_t>> each;
        for (std::size_t i = 0; i < candidates_.size(); ++i)
            if (open(i)) each[family(i)].push_back(i);
        std::vector<std::vector<std::size_t>> lists;
        for (auto& [number, list] : each)
            lists.push_back(std::move(list));
        std::vector<double> factors = penalties_;
        std::vector<std::size_t> all;
        auto next = static_cast<std::size_t>(trial / kExploreEvery);
        while (all.size() < kLookAhead / kExploreEvery + 1 && !lists.empty()) {
            std::vector<std::size_t>& list = lists[next % lists.size()];
            const auto weight = [&](std::size_t i) { return candidates_[i].rank * factors[i]; };
            const auto best = std::min_element(list.begin(), list.end(), [&](std::size_t a, std::size_t b) {
                return weight(a) < weight(b);
            });
            all.push_back(*best);
            mark(factors, *best, options_.neighbour_penalty);
            list.erase(best);
            if (list.empty()) {
                lists.erase(lists.begin() + static_cast<std::ptrdiff_t>(next % lists.size()));
            } else {
                ++next;
            }
        }
        return all;
    }

    bool given_up(int strategy) const {
        if (!best_ || family(*best_) == strategy) return false;
        int slow = 0, dropped = 0;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            const std::optional<Outcome>& outcome = result_.outcomes[i];
            if (!outcome || family(i) != strategy) continue;
            ++(outcome->timed() ? slow : dropped);
            if (outcome->timed() && outcome->seconds < options_.give_up_ratio * best_seconds_) return false;
        }
        // A candidate that cannot be built says less about its strategy than one that is slow.
        return slow >= options_.least_trials || dropped >= kDroppedForSlow * options_.least_trials;
    }

    // Compares the best few and the model's choice in one alternating measurement.
    void finish() {
        std::vector<std::size_t> finalists;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            if (i != 0 && seconds_of(i) && *seconds_of(i) <= options_.finalist_ratio * best_seconds_)
                finalists.push_back(i);
        }
        std::stable_sort(finalists.begin(), finalists.end(),
                         [&](std::size_t a, std::size_t b) { return *seconds_of(a) < *seconds_of(b); });
        if (std::ssize(finalists) > options_.finalists)
            finalists.resize(static_cast<std::size_t>(options_.finalists));
        const bool with_first = seconds_of(0).has_value();
        if (with_first) finalists.insert(finalists.begin(), 0);
        if (finalists.size() < 2) return;
        const std::vector<double> seconds = measure_.compare(finalists);
        if (seconds.size() != finalists.size()) return;
        if (with_first) result_.first_seconds = seconds[0];
        choose_of(finalists, seconds);
    }

    void choose_of(const std::vector<std::size_t>& finalists, const std::vector<double>& seconds) {
        std::vector<std::size_t> order(finalists.size());
        for (std::size_t n = 0; n < order.size(); ++n)
            order[n] = n;
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return seconds[a] < seconds[b]; });
        // Within noise the model's choice is as good, and needs no entry in the store.
        if (finalists[0] == 0 && seconds[0] * (1 - options_.least_gain) <= seconds[order[0]])
            std::stable_partition(order.begin(), order.end(), [](std::size_t n) { return n == 0; });
        for (const std::size_t n : order) {
            const std::size_t i = finalists[n];
            if (i != *best_) {
                if (std::optional<Outcome> trouble = measure_.verify(i)) {
                    result_.outcomes[i] = std::move(trouble);
                    measure_.tried(i, *result_.outcomes[i], best_);
                    continue;
                }
            }
            result_.winner = i;
            result_.seconds = seconds[n];
            return;
        }
    }

    const std::vector<schedule::Candidate>& candidates_;
    Measure& measure_;
    const SearchOptions options_;
    SearchResult result_;
    std::vector<bool> pruned_;
    std::optional<std::size_t> best_;
    double best_seconds_ = std::numeric_limits<double>::infinity();
    std::vector<schedule::Place> places_;
    std::vector<bool> is_neighbour_;  // to the best
    std::vector<double> penalties_;   // factors of the ranks
    int since_better_ = 0;
};

}  // namespace

SearchResult search(const std::vector<schedule::Candidate>& candidates, int rank, Measure& measure,
                    const std::vector<std::optional<Outcome>>& known, const SearchOptions& options) {
    return Search(candidates, rank, measure, known, options).run();
}

}  // namespace halo::tune
