// What was measured of whole programs: plain data, made by programs_measure.h, written by programs_page.h.
#pragma once

#include <string>
#include <vector>

#include "compiler/bench/programs_table.h"
#include "compiler/bench/results.h"

namespace halo::bench {

// One way to do the steps.
struct ProgramRun {
    std::string plan;      // in full; empty where there is no choice
    std::string wrong;     // how its results differ; empty: they are right
    double seconds = 0;    // a step; 0: not measured
    double predicted = 0;  // the same by the model; 0: it has none
    double spread = 0;     // of the repeated runs: (longest - shortest) / median
    std::int64_t steps = 0;
    int repeats = 0;
};

inline constexpr const char* kSinglyDone = "single steps";

struct ProgramResult {
    Program which;
    double bytes_per_cell = 0;  // that single steps move at least: each level that a stage reads or writes
    std::string kind;           // how steps are done: "temporal", "resident", kSinglyDone
    ProgramRun run;             // as `haloc run` does it
    ProgramRun single;          // step by step; the same where that is how it is run
    std::string trouble;        // why something was not measured
    double ready_seconds =
        0;  // until single steps could begin: kernels, data, and what they are compared with

    double cells() const;
    double rate(const ProgramRun& measured) const;  // cells a second
    double predicted_rate(const ProgramRun& measured) const;
    double bound(const MachineFacts& machine) const;  // cells a second of single steps at the copy's speed
    bool is_right() const { return run.wrong.empty() && single.wrong.empty(); }
};

struct ProgramsResults {
    MachineFacts machine;
    std::string command;
    bool quick = false;
    std::vector<ProgramResult> programs;
    std::vector<std::string> missing;  // what could not be measured here, and why
};

std::string programs_json(const ProgramsResults& results);
std::string programs_page(const ProgramsResults& results);

}  // namespace halo::bench
