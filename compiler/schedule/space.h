// The schedules that a stage can run by, and the ways to group steps, for a tuner that measures them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/schedule/defaults.h"
#include "compiler/schedule/plan.h"

namespace halo::schedule {

struct Candidate {
    std::variant<Schedule, Grouping> choice;  // of a stage, or of how steps are grouped
    // What orders candidates of one strategy, least first; no unit. Of shapes that differ in their limit of
    // registers alone the usual one comes first.
    double rank = 0;
    // Seconds a cell and time step by the model (cost.h); nullopt where it knows none: sums over tables.
    std::optional<double> seconds_per_cell = std::nullopt;

    Schedule& schedule() { return std::get<Schedule>(choice); }
    const Schedule& schedule() const { return std::get<Schedule>(choice); }
    const Grouping* grouping() const { return std::get_if<Grouping>(&choice); }  // null: of a stage
};
// As --schedule takes it; kSingleSteps.
std::string print(const Candidate& candidate, int rank);

// Sorts from the candidate `first` on; equal ranks keep their order.
void sort_by_rank(std::vector<Candidate>& candidates, std::size_t first = 0);

// Legal schedules without repetition. First what choose() gives, then the rest by rank, of each strategy
// `most` at most. Empty where there is nothing to choose: a stage at points, or that changes a field in
// place. What is pinned stays as it is.
std::vector<Candidate> list_candidates(const Footprint& footprint, const Target& target, const Extent& extent,
                                       const Pins& pins = {}, int most = 1000);

// Schedules of the strategy `temporal` that the program can run by on the grid, without repetition. First
// what choose_temporal() gives for the same pins, if anything, then the rest by rank, `most` at most. Where
// there are none `why_none` says what is in the way.
struct TemporalCandidates {
    std::vector<Candidate> found;
    std::string why_none;
};
TemporalCandidates list_temporal_candidates(const ir::Program& program, const Target& target,
                                            const Extent& extent, const TemporalPins& pins = {},
                                            const std::vector<std::string>& watched = {},
                                            const StepCounts& counts = {}, int most = 1000);

// The fastest schedules that keep the whole grid on the chip, by the model; pinned settings stay as they are.
struct ResidentCandidates {
    std::vector<Candidate> found;
    std::string why_none;
};
ResidentCandidates list_resident_candidates(const ir::Program& program, const Target& target,
                                            const Extent& extent, const ResidentPins& pins = {},
                                            std::size_t most = 24);

// A schedule's coordinates among others: its settings, taken from its text (print.h), so that a new setting
// counts without being named here.
struct Place {
    int family = 0;                                                     // of candidate
    std::vector<std::pair<std::string, std::vector<double>>> settings;  // by name; lengths as powers of two
};
Place place_of(const Candidate& candidate, int rank);

// The same number for schedules of the same strategy.
int family_of(const Candidate& candidate);

// How far two schedules are apart: over all settings, the doublings between their lengths; a setting that one
// of them alone has counts one and its doublings from 1. Infinite between families.
double distance(const Place& a, const Place& b);

// Time steps that one launch computes.
int steps_of(const Candidate& candidate);

// The schedule that others are checked against: direct, one cell a thread; or that of choose(), where that is
// not legal.
Schedule plain_schedule(const Footprint& footprint, const Target& target);

}  // namespace halo::schedule
