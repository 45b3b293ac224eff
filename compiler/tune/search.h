// Search: which of a stage's candidate schedules is fastest, by measuring some of them. Without a device:
// what measures is given (Measure).
//
// The model's choice comes first. After it two of three candidates are untried neighbours of the best so far;
// every third is an untried one of the strategies in turn, so that no strategy is lost because the model
// thinks little of it. Both go by the model's rank; as it calls many alike, what is beside something tried
// comes later among the latter. A strategy is given up when several of its candidates were far from the best.
// What would become the best must be verified first. At the end the few best are timed against each other in
// turns, since a device's clock drifts while it is measured; the model's choice wins unless another is faster
// by more than noise.
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
    // What is likely to be asked for next, in order; it may be compiled meanwhile.
    virtual void expect(const std::vector<std::size_t>& candidates) = 0;
    // best: seconds of the best so far (infinite at first); may give up on what is clearly slower.
    virtual Outcome measure(std::size_t candidate, double best) = 0;
    // Nothing where its results are right, else what it is to be kept as.
    virtual std::optional<Outcome> verify(std::size_t candidate) = 0;
    // Seconds of each, timed in turns; empty where that cannot be done.
    virtual std::vector<double> compare(const std::vector<std::size_t>& candidates) = 0;
    virtual bool time_is_up() = 0;   // the budget is spent
    virtual bool interrupted() = 0;  // the user wants to stop
    // After each outcome, also of those that were verified and found wrong.
    virtual void tried(std::size_t candidate, const Outcome& outcome, std::optional<std::size_t> best) = 0;
};

struct SearchOptions {
    double prune = 4;       // candidates ranked worse than this many times their strategy's best are left out
    int patience = 40;      // trials without a better one, after which the search has settled
    double better = 0.005;  // of the best: less is no improvement
    double near = 2;        // distance up to which a candidate is a neighbour
    double beside = 1.2;    // what the rank of a neighbour of something tried is multiplied by
    double beside_dropped = 1.5;  // the same, where that could not be run or spilled: it is likely to, too
    int finalists = 3;            // that are timed in turns
    double in_reach = 1.05;       // of the best: what may be a finalist
    double far = 1.5;  // of the best: a strategy whose first candidates are all this far is given up
    int first_of_strategy = 5;
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
