// Search: which of a stage's candidate schedules is fastest, by measuring some of them. It knows no device:
// the caller supplies a Measure.
//
// The model's choice comes first. After it two of three candidates are untried neighbours of the best so far;
// every third is an untried one of each strategy in rotation, so that no strategy is lost because the model
// ranks it low. Both are ordered by the model's rank; as that is equal for many, neighbours of tried
// candidates come later among the latter. A strategy is given up when several of its candidates were far from
// the best. A candidate is verified before it becomes the best. At the end the few best are timed
// alternately, since a device's clock drifts while it is measured; the model's choice wins unless another is
// faster by more than noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/space.h"

namespace halo::tune {

struct Outcome {
    enum class Kind : std::uint8_t {
        measured,
        slower,     // given up while it was timed; `seconds` is what was seen
        spilled,    // the compiler put registers into memory
        refused,    // it could not be built or run
        wrong,      // its results differ
        unverified  // its results could not be compared with anything
    };
    Kind kind = Kind::measured;
    double seconds = 0;             // a time step of the whole program; of measured and slower
    std::string why;                // of what is not timed
    int registers = 0;              // a thread of the stage's kernel, as it was compiled; 0: not known
    std::int64_t shared_bytes = 0;  // a block of it
    bool timed() const { return kind == Kind::measured || kind == Kind::slower; }
};

class Measure {
public:
    virtual ~Measure() = default;
    // The candidates that are likely to be measured next, in order, so that they can be compiled meanwhile.
    virtual void prepare(const std::vector<std::size_t>& candidates) = 0;
    // best: seconds of the best so far (infinite at first); may give up on what is clearly slower.
    virtual Outcome measure(std::size_t candidate, double best) = 0;
    // Nothing where its results are right, else what it is to be kept as.
    virtual std::optional<Outcome> verify(std::size_t candidate) = 0;
    // Seconds of each, timed alternately; empty where that cannot be done.
    virtual std::vector<double> compare(const std::vector<std::size_t>& candidates) = 0;
    virtual bool budget_is_spent() = 0;  // the budget is spent
    virtual bool interrupted() = 0;      // the user wants to stop
    // After each outcome, also of those that were verified and found wrong.
    virtual void tried(std::size_t candidate, const Outcome& outcome, std::optional<std::size_t> best) = 0;
};

struct SearchOptions {
    double prune_ratio = 4;  // candidates are left out whose rank is worse by this than their strategy's best
    int patience = 40;       // trials without a better one, after which the search has settled
    double least_gain = 0.005;              // of the best: a smaller gain is noise
    double neighbour_distance = 2;          // distance up to which a candidate is a neighbour
    double neighbour_penalty = 1.2;         // factor of the rank of a tried candidate's neighbours
    double failed_neighbour_penalty = 1.5;  // the same, where the tried one spilled or could not be run
    int finalists = 3;                      // how many are timed alternately
    double finalist_ratio = 1.05;           // of the best: the slowest finalist
    double give_up_ratio = 1.5;  // of the best: a strategy whose candidates are all slower is given up
    int least_trials = 5;        // of a strategy before it is given up
};

struct SearchResult {
    enum class Stop : std::uint8_t { exhausted, settled, budget, interrupted };
    std::optional<std::size_t> winner;    // none: nothing right could be run
    double seconds = 0;                   // of the winner
    std::optional<double> first_seconds;  // of candidate 0, in the same comparison where there was one
    std::vector<std::optional<Outcome>> outcomes;  // by candidate
    int trials = 0;                                // that this search made
    Stop stop = Stop::exhausted;
};

// known: outcomes of an earlier search over the same candidates, by candidate; empty: none. Those are not
// measured again; the best of them is verified again. rank: axes of the program.
SearchResult search(const std::vector<schedule::Candidate>& candidates, int rank, Measure& measure,
                    const std::vector<std::optional<Outcome>>& known = {}, const SearchOptions& options = {});

}  // namespace halo::tune
