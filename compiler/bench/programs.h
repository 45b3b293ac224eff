// haloc bench --programs: measures whole programs as `haloc run` does them, verified in the same run, and
// writes the page about it.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/console/console.h"
#include "compiler/driver/console/exit_code.h"

namespace halo::bench {

struct ProgramsOptions {
    std::string device = "auto";    // auto, cuda, cuda:N, cpu
    bool quick = false;             // half the cells along each axis, and fewer steps
    std::vector<std::string> only;  // names of specs, or of programs with their grids; none: all
    double budget = 0;              // seconds, after which what is left is left out; 0: no end
    std::string output;             // page to write; empty: standard output
    std::string json;               // file to write as well; empty: none
};

// Ends with `device` (3) where there is nothing to measure on, `usage` (2) for names that there are not,
// `internal` (5) where a result was wrong: what was measured is written all the same.
driver::ExitCode programs(const ProgramsOptions& options, const driver::Console& console);

}  // namespace halo::bench
